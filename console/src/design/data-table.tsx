import { tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { useMemo, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { PagedList } from '../api/queries';
import { Button } from './button';
import styles from './data-table.module.css';
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
  readonly rowHref?: (item: T) => string;
}

/** The service sorts, filters and pages: the table only lays out. */
const FEATURES = tableFeatures({});

/** Rows below a head that stays in sight. It scrolls by itself where the page is too narrow. */
export function DataTable<T extends object>({ label, columns, rows, rowKey, rowHref }: DataTableProps<T>) {
  const [, navigate] = useLocation();
  const definitions = useMemo(() => columns.map((column) => definitionOf(column)), [columns]);
  const table = useTable({ features: FEATURES, columns: definitions, data: rows, getRowId: rowKey });
  const layout = new Map(columns.map((column) => [column.id, layoutOf(column)]));
  return (
    <div className={styles['scroll']} role="region" aria-label={label} tabIndex={0}>
      <table className={styles['table']}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th key={header.id} scope="col" className={layout.get(header.column.id)}>
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr
              key={row.id}
              className={rowHref && styles['clickable']}
              onClick={(click) =>
                rowHref !== undefined && !isOnControl(click.target) && navigate(rowHref(row.original))
              }
            >
              {row.getAllCells().map((cell) => (
                <td key={cell.id} className={layout.get(cell.column.id)}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function definitionOf<T extends object>({ id, header, cell }: Column<T>): ColumnDef<typeof FEATURES, T> {
  return { id, header, cell: ({ row }) => cell(row.original) };
}

function layoutOf<T>({ align, grow }: Column<T>): string | undefined {
  return align === 'end' ? styles['end'] : grow === true ? styles['grow'] : undefined;
}

/** A click on a link, a button or marked text is not one on the row. */
function isOnControl(target: EventTarget): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, select, label') !== null;
  return isControl || getSelection()?.isCollapsed === false;
}

interface PagedTableProps<T> extends Omit<DataTableProps<T>, 'rows'> {
  readonly list: PagedList<T>;
  /** Shown when there is no row: `<Empty …/>`. */
  readonly empty: ReactNode;
}

/** A list of the API with its loading, error, forbidden and empty states. */
export function PagedTable<T extends object>({ list, empty, ...table }: PagedTableProps<T>) {
  if (list.isPending) return <Loading />;
  if (list.error !== null && list.items.length === 0) return <Failed error={list.error} onRetry={list.reload} />;
  if (list.items.length === 0) return empty;
  return (
    <>
      <DataTable {...table} rows={list.items} />
      <p className={styles['more']}>
        <span>{`${list.items.length.toLocaleString()} shown`}</span>
        {list.hasMore && (
          <Button onClick={list.loadMore} busy={list.isLoadingMore}>
            Show more
          </Button>
        )}
      </p>
      {list.error !== null && <Failed error={list.error} onRetry={list.loadMore} />}
    </>
  );
}
