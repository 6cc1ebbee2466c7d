import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useOverwriteCheck } from '../../design/overwrite';
import { showToast } from '../../design/toast';
import { fieldsOf, issuerSettings, type JwtIssuer } from './issuer-fields';
import { IssuerForm } from './issuer-form';

interface ChangeIssuerProps {
  readonly issuer: JwtIssuer;
  readonly onClose: () => void;
}

/** The form that changes an issuer. It begins with the issuer as it is when the form is opened. */
export function ChangeIssuer({ issuer, onClose }: ChangeIssuerProps) {
  const client = useQueryClient();
  const [opened] = useState(issuer);
  const checkOverwrite = useOverwriteCheck(opened.id, fieldsOf(opened));
  const path = { id: opened.id };
  return (
    <IssuerForm
      action="Save changes"
      initial={fieldsOf(opened)}
      changes={opened}
      onCancel={onClose}
      onSubmit={async (fields) => {
        await checkOverwrite(opened.id, async () => fieldsOf(await api.get('/v1/jwt-issuers/{id}', { path })));
        await api.put('/v1/jwt-issuers/{id}', { path, body: issuerSettings(fields) });
        onClose();
        showToast({ title: 'The issuer is changed.' });
        await readIssuersAgain(client);
      }}
    />
  );
}

/** After a change of one of them. */
export function readIssuersAgain(client: ReturnType<typeof useQueryClient>): Promise<unknown> {
  return Promise.all(
    ['/v1/jwt-issuers', '/v1/jwt-issuers/{id}'].map((path) => client.invalidateQueries({ queryKey: [path] })),
  );
}
