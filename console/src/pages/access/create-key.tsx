import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../design/button';
import { Dialog } from '../../design/dialog';
import { showSecret } from '../../design/secret-dialog';
import { CreateKeyForm, type ApiKey } from './create-key-form';

interface CreateKeyProps {
  readonly label: string;
  readonly kind?: 'normal' | 'primary';
  readonly like?: ApiKey;
}

/** A button that leads to the form of a new key, and then to the key itself. */
export function CreateKey({ label, kind = 'normal', like }: CreateKeyProps) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={kind} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog title="Create an API key" open={isOpen} onClose={() => setOpen(false)} wide>
        <CreateKeyForm
          like={like}
          onCancel={() => setOpen(false)}
          onCreated={(issued) => {
            setOpen(false);
            showSecret({ title: 'The new API key', what: 'API key', secret: issued.key, note: NOTE });
            void client.invalidateQueries({ queryKey: ['/v1/api-keys'] });
          }}
        />
      </Dialog>
    </>
  );
}

const NOTE = (
  <p>
    Send it with each request as <code>Authorization: Bearer …</code>
  </p>
);
