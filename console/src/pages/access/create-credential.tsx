import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Button } from '../../design/button';
import { CodeBlock } from '../../design/code-block';
import { Dialog } from '../../design/dialog';
import { Select, TextArea, TextField } from '../../design/field';
import { ActionForm } from '../../design/form';
import { given, textOf } from '../../design/form-values';
import { showSecret } from '../../design/secret-dialog';
import { showToast } from '../../design/toast';

type Issued = Schema<'IssuedServiceCredentialDto'>;
type Algorithm = Schema<'SignatureAlgorithm'>;

const ALGORITHMS = [
  { value: 'ed25519', label: 'Ed25519: a key pair of your own' },
  { value: 'hmac-sha256', label: 'HMAC-SHA256: a shared secret' },
];

export function CreateCredential() {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const onCreated = ({ secret, serviceCredential: { id } }: Issued): void => {
    setOpen(false);
    if (secret === undefined) showToast({ title: 'The service credential is created.' });
    else showSecret({ title: 'The new service credential', what: 'secret', secret, note: <KeyId id={id} /> });
    void client.invalidateQueries({ queryKey: ['/v1/service-credentials'] });
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Create credential
      </Button>
      <Dialog title="Create a service credential" open={isOpen} onClose={() => setOpen(false)}>
        <CredentialForm onCreated={onCreated} onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function KeyId({ id }: { readonly id: string }) {
  return (
    <>
      <p>The keyid of its signatures:</p>
      <CodeBlock code={id} what="keyid" />
    </>
  );
}

interface CredentialFormProps {
  readonly onCreated: (issued: Issued) => void;
  readonly onCancel: () => void;
}

function CredentialForm({ onCreated, onCancel }: CredentialFormProps) {
  const [name, setName] = useState('');
  const [algorithm, setAlgorithm] = useState<Algorithm>('ed25519');
  const [publicKey, setPublicKey] = useState('');
  const hasPair = algorithm === 'ed25519';
  const create = async (): Promise<void> => {
    const body = given({ name: name.trim(), algorithm, publicKey: hasPair ? textOf(publicKey) : undefined });
    onCreated(await api.post('/v1/service-credentials', { body }));
  };
  return (
    <ActionForm action="Create credential" onSubmit={create} onCancel={onCancel}>
      <TextField
        label="Name"
        required
        maxLength={128}
        value={name}
        onChange={({ target }) => setName(target.value)}
        hint="What it is for, for example “web shop”."
      />
      <Select
        label="Requests are signed with"
        value={algorithm}
        options={ALGORITHMS}
        onChange={({ target }) => setAlgorithm(target.value as Algorithm)}
      />
      {hasPair && (
        <TextArea
          label="Public key"
          required
          value={publicKey}
          onChange={({ target }) => setPublicKey(target.value)}
          placeholder={'-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----'}
          hint="SPKI in PEM. The private key stays with you."
        />
      )}
    </ActionForm>
  );
}
