import type { Page } from 'playwright-core';
import { anExternalEvent, PURCHASE } from '../support/builders';
import { useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf } from '../support/console-parts';
import { sendTooEarly } from '../support/review';

const browser = useConsoleBrowser();

const PROBLEM = { status: 503, error_code: 'unavailable', message: 'Too busy now.', request_id: 'request-9' };

/** Lets calls fail when the function that it returns is called, which waits until the page says so. */
async function failLater(page: Page, path: string): Promise<() => Promise<void>> {
  let answer = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (answer = resolve));
  await page.route(`**/console/api${path}`, async (route) => {
    await isHeld;
    await route.fulfill({ status: 503, json: PROBLEM });
  });
  return async () => {
    answer();
    await page.getByText('Too busy now. request_id request-9').first().waitFor();
  };
}

async function leave(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Live events' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
}

describe('what fails after its page or dialog was left is named with the request id', () => {
  it('when it is a bulk replay', async () => {
    const { page, client } = await browser.signedIn();
    await sendTooEarly(client, 1);
    await page.goto('review');
    const fail = await failLater(page, '/v1/review-entries:replay');
    await buttonOf(page, 'Replay all').click();
    const dialog = dialogOf(page, 'Replay all that match');
    await buttonOf(dialog, 'Replay 1').click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await fail();
  });

  it('when it is the replay of an entry, as it is or corrected', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const [{ id }] = (await client.get('/v1/review-entries')).body.items;
    for (const opens of [false, true]) {
      await page.goto(`review/${id}`);
      const fail = await failLater(page, '/v1/review-entries/*:replay');
      if (opens) await buttonOf(page, 'Correct and replay').click();
      await buttonOf(page, opens ? 'Replay corrected event' : 'Replay as it is').click();
      await leave(page);
      await fail();
      await page.unrouteAll();
    }
  });

  it('when it is a new version of an event type', async () => {
    const { page } = await browser.signedIn({ path: 'event-types/_new' });
    await page.getByLabel('Event type as JSON').fill(JSON.stringify(PURCHASE));
    await buttonOf(page, 'Check').click();
    await page.getByText('This is a new event type.').waitFor();
    const fail = await failLater(page, '/v1/cdp/event-types');
    await buttonOf(page, 'Publish').click();
    await leave(page);
    await fail();
  });

  it('when it is an export', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent());
    const [{ profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto(`customers/${profileId}`);
    const fail = await failLater(page, '/v1/cdp/profiles/*:export');
    await buttonOf(page, 'Export').click();
    const dialog = dialogOf(page, 'Export the customer');
    await buttonOf(dialog, 'Download export').click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await fail();
  });
});
