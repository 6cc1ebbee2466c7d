import { Toast } from '@base-ui/react/toast';
import styles from './toast.module.css';

const toasts = Toast.createToastManager();

interface Message {
  readonly title: string;
  readonly description?: string;
  /** Until somebody closes it. */
  readonly stays?: boolean;
}

/** A short message that goes away by itself. Errors that need an action stand in the page instead. */
export function showToast({ stays = false, ...message }: Message): void {
  toasts.add({ timeout: stays ? 0 : 6_000, ...message });
}

/** Once, in the shell. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={toasts} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className={styles['viewport']}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  return Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['toast']}>
      <div>
        <Toast.Title className={styles['title']} />
        <Toast.Description />
      </div>
      <Toast.Close className={styles['close']} aria-label="Close message">
        ×
      </Toast.Close>
    </Toast.Root>
  ));
}
