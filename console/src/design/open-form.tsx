import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from './button';
import { TextField } from './field';
import styles from './open-form.module.css';
import { NAME_PATTERN } from './path-name';

interface OpenFormProps {
  /** What the name is of, such as "Campaign id". */
  readonly label: string;
  readonly button: string;
  /** A name that could be one. */
  readonly example: string;
  /** The page of what has this name. */
  readonly hrefOf: (name: string) => string;
}

/** Opens the page of something by its name, in one step from a list of any length. */
export function OpenForm({ label, button, example, hrefOf }: OpenFormProps) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  return (
    <form
      role="search"
      className={styles['open']}
      onSubmit={(event) => {
        event.preventDefault();
        navigate(hrefOf(name));
      }}
    >
      <TextField
        label={label}
        type="search"
        required
        pattern={NAME_PATTERN}
        title="Letters, digits, dots, dashes and underscores; at most 128."
        placeholder={example}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Button kind="primary" type="submit">
        {button}
      </Button>
    </form>
  );
}
