import { memo, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { PagedList } from '../api/queries';
import { Button } from './button';
import styles from './data-table.module.css';
import { useKeptScroll } from './kept-scroll';
import { Failed, Loading } from './state-views';

/** A column: what its head says, and what a record shows in it. */
export interface Column<T> {
  readonly id: string;
  readonly header: string;
  readonly cell: (item: T) => ReactNode;
  /** Numbers stand at the end, so that their digits are below each other. */
  readonly align?: 'end';
  /** Takes the room that is left; its text is cut where there is too little. */
  readonly grow?: boolean;
}

interface DataTableProps<T> {
  /** What the table lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (item: T) => string;
  /** Where a click on a row leads. One cell holds a link to the same place, for the keyboard. */
  readonly rowHref?: (item: T) => string | undefined;
}

/** Rows below a head that stays in sight. It scrolls by itself where the page is too narrow. */
export function DataTable<T extends object>({ label, columns, rows, rowKey, rowHref }: DataTableProps<T>) {
  const region = useKeptScroll<HTMLDivElement>(label);
  return (
    <div ref={region} className={styles['scroll']} role="region" aria-label={label} tabIndex={0}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={layoutOf(column)}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item) => (
            <Row key={rowKey(item)} item={item} columns={columns} href={rowHref?.(item)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<T> {
  readonly item: T;
  readonly columns: readonly Column<T>[];
  readonly href: string | undefined;
}

/** Drawn again only when its record is another one: give `DataTable` the same columns each time. */
const Row = memo(function Row<T>({ item, columns, href }: RowProps<T>) {
  const [, navigate] = useLocation();
  return (
    <tr
      className={href === undefined ? undefined : styles['clickable']}
      onClick={(click) => href !== undefined && !isOnControl(click.target) && navigate(href)}
    >
      {columns.map((column) => (
        <td key={column.id} className={layoutOf(column)}>
          <Cell content={column.cell(item)} />
        </td>
      ))}
    </tr>
  );
}) as <T>(props: RowProps<T>) => ReactNode;

function Cell({ content }: { readonly content: ReactNode }) {
  if (typeof content !== 'string') return content;
  return (
    <span className={styles['text']} title={content}>
      {content}
    </span>
  );
}

function layoutOf<T>({ align, grow }: Column<T>): string | undefined {
  return align === 'end' ? styles['end'] : grow === true ? styles['grow'] : undefined;
}

/** A click on a link, a button or marked text is not one on the row. */
function isOnControl(target: EventTarget): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, select, label') !== null;
  return isControl || getSelection()?.isCollapsed === false;
}

/** A page looks at a bounded number of rows, so one that a filter leaves empty need not be the last. */
const NONE_SO_FAR = 'No match among those looked at so far';

interface PagedTableProps<T> extends Omit<DataTableProps<T>, 'rows'> {
  readonly list: PagedList<T>;
  /** Shown when there is no row: `<Empty …/>`. */
  readonly empty: ReactNode;
}

/** A list of the API with its loading, error, forbidden and empty states. */
export function PagedTable<T extends object>({ list, empty, ...table }: PagedTableProps<T>) {
  if (list.isPending) return <Loading />;
  if (list.error !== null && list.items.length === 0) return <Failed error={list.error} onRetry={list.retry} />;
  if (list.items.length === 0 && !list.hasMore) return empty;
  return (
    <>
      {list.items.length > 0 && <DataTable {...table} rows={list.items} />}
      <p className={styles['more']}>
        <span>{list.items.length > 0 ? `${list.items.length.toLocaleString()} shown` : NONE_SO_FAR}</span>
        {list.hasMore && (
          <Button onClick={list.loadMore} busy={list.isLoadingMore}>
            {list.items.length > 0 ? 'Show more' : 'Look further'}
          </Button>
        )}
      </p>
      {list.error !== null && <Failed error={list.error} onRetry={list.retry} />}
    </>
  );
}
