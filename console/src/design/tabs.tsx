import { Tabs as BaseTabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import styles from './tabs.module.css';

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

/** Tabs whose choice stands in the address, as `?tab=`. The content of a tab is made when it is chosen. */
export function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }) {
  const [search, setSearch] = useSearchParams();
  const chosen = tabs.find(({ id }) => id === search.get('tab')) ?? tabs[0];
  return (
    <BaseTabs.Root
      className={styles['root']}
      value={chosen?.id ?? null}
      onValueChange={(id: string) => setSearch(id === tabs[0]?.id ? {} : { tab: id })}
    >
      <BaseTabs.List className={styles['list']} aria-label={label} activateOnFocus={false}>
        {tabs.map((tab) => (
          <BaseTabs.Tab key={tab.id} value={tab.id} className={styles['tab']}>
            {tab.label}
          </BaseTabs.Tab>
        ))}
      </BaseTabs.List>
      {tabs.map((tab) => (
        <BaseTabs.Panel key={tab.id} value={tab.id} className={styles['panel']}>
          {tab.content}
        </BaseTabs.Panel>
      ))}
    </BaseTabs.Root>
  );
}
