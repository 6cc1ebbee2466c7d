import { useRead } from '../../api/queries';
import { CopyableId } from '../../design/copyable-id';
import { visibleText } from '../../design/visible-text';
import { Link } from 'wouter';
import { useScope } from '../../shell/session-context';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAMES_MAX = 200;

/** Who did something: the name of a key where it is known, else the id or the word of the record. */
export function CredentialLink({ id }: { readonly id: string }) {
  const mayRead = useScope('api-keys:read');
  const keys = useRead('/v1/api-keys', { query: { limit: NAMES_MAX } }, { enabled: mayRead && UUID.test(id) });
  const name = keys.data?.items.find((key) => key.id === id)?.name;
  if (!UUID.test(id)) return <span>{visibleText(id)}</span>;
  if (name === undefined) return <CopyableId id={id} what="credential id" />;
  return (
    <Link href={`/access/keys/${id}`} title={id}>
      {visibleText(name)}
    </Link>
  );
}
