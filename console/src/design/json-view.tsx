import { CodeBlock } from './code-block';

/** A value as indented JSON, to read and to copy. */
export function JsonView({ value, what }: { readonly value: unknown; readonly what: string }) {
  return <CodeBlock code={JSON.stringify(value, null, 2)} what={what} />;
}
