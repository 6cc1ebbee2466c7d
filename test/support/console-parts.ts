import type { Locator, Page } from 'playwright-core';
import { until } from './until';
import { noteSecrets } from './log-watch';

/** An open dialog of the console by its title. */
export function dialogOf(page: Page, title: string): Locator {
  return page.getByRole('dialog', { name: title, exact: true });
}

export function buttonOf(within: Page | Locator, label: string): Locator {
  return within.getByRole('button', { name: label, exact: true });
}

/** Reads the secret that a dialog shows once, and says that it is stored. `what`: what the dialog calls it. */
export async function takeSecret(page: Page, title: string, what: string): Promise<string> {
  const shown = dialogOf(page, title);
  const secret = (await shown.getByRole('group', { name: what, exact: true }).textContent()) ?? '';
  noteSecrets(secret, undefined);
  await shown.getByLabel(`I have stored the ${what}`).check();
  await buttonOf(shown, 'Done').click();
  await shown.waitFor({ state: 'hidden' });
  return secret;
}

const PROBLEM = {
  status: 503,
  error_code: 'unavailable',
  message: 'The database is away. Retry later.',
  request_id: 'request-of-the-test',
};

/** Answers calls below an address of the API with 503, until the function that it returns is called. */
export async function refuseCalls(page: Page, path: string): Promise<() => Promise<void>> {
  const pattern = `**/console/api${path}`;
  await page.route(pattern, (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(PROBLEM) }),
  );
  return () => page.unroute(pattern);
}

/** A page that could not read what it shows says why, with the id of the request, and reads it again when asked. */
export async function expectFailure(page: Page): Promise<void> {
  await page.getByRole('alert').getByText(PROBLEM.message).first().waitFor();
  await page.getByRole('alert').getByText(PROBLEM.request_id).first().waitFor();
}

/**
 * Opens a dialog with the keyboard and closes it: it keeps the focus within, whichever way one goes, Escape closes it, and the
 * focus is back on what has opened it. `inside` looks at the open dialog.
 */
export async function expectKeyboardDialog(
  page: Page,
  opener: Locator,
  title: string,
  inside: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = dialogOf(page, title);
  await dialog.waitFor();
  const focused = page.locator(':focus');
  const isWithin = async () => (await dialog.and(focused).or(dialog.locator(':focus')).count()) === 1;
  await until(isWithin);
  const stops = await dialog.locator('button:enabled, a[href], input, select, textarea, pre[tabindex]').count();
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let pressed = 0; pressed <= stops + 1; pressed += 1) {
      await page.keyboard.press(key);
      // At its ends the dialog takes the focus back.
      await until(isWithin, 5);
    }
  }
  await inside();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  const isBack = async () => (await opener.and(focused).count()) === 1;
  await until(isBack).catch((cause: unknown) => {
    throw new Error(`The dialog "${title}" did not give the focus back.`, { cause });
  });
}

/** Has the page show local times as in this time zone. */
export async function inTimeZone(page: Page, timezoneId: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId });
}
