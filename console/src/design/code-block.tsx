import styles from './copy.module.css';
import { CopyButton } from './copy-button';
import { visibleText } from './visible-text';
import { curlCommand, type CurlRequest } from './curl';

/** Text to copy, such as a command. `what` completes the label of the button: "Copy command". */
export function CodeBlock({ code, what }: { readonly code: string; readonly what: string }) {
  return (
    <div className={styles['block']}>
      <pre tabIndex={0} role="group" aria-label={what}>
        {visibleText(code)}
      </pre>
      <CopyButton text={code} what={what} />
    </div>
  );
}

/** The command that does by hand what the page is about. */
export function Curl(request: CurlRequest) {
  return <CodeBlock code={curlCommand(request)} what="command" />;
}
