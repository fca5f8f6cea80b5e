// The facts that only the user sets.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { TextField } from '../../parts/field.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { useDecision } from './use-steward.ts';

export function CoreFacts() {
  const mayAct = useMay('owner');
  const { data } = useQuery(asked('stewardCore'));
  const set = useDecision((fact: { readonly key: string; readonly value: string }) =>
    post('stewardSetCore', fact),
  );
  return (
    <section aria-label="Core facts" className="flex flex-col gap-2">
      <h2 className="text-12 text-dim">Core facts: only you change them</h2>
      <dl>
        {data?.facts.map(({ key, value }) => (
          <div key={key} className="flex min-h-8 items-center gap-2 border-b border-line py-1">
            <dt className="w-40 shrink-0 break-words max-sm:w-24">
              <Value text={key} />
            </dt>
            <dd className="flex min-w-0 flex-1 items-center gap-2">
              <span className="min-w-0 flex-1 break-words">{plainText(value)}</span>
              {mayAct && (
                <Button
                  className="max-md:h-11"
                  aria-label={`Remove ${plainText(key)}`}
                  disabled={set.isPending}
                  onClick={() => set.mutate({ key, value: '' })}
                >
                  Remove
                </Button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {data?.facts.length === 0 && (
        <p className="text-dim">None is set. Steward reads them at every task.</p>
      )}
      {set.error !== null && <FailureText cause={set.error} />}
      {mayAct && <NewFact isBusy={set.isPending} onSet={(fact) => set.mutate(fact)} />}
    </section>
  );
}

interface NewFactProps {
  readonly isBusy: boolean;
  readonly onSet: (fact: { readonly key: string; readonly value: string }) => void;
}

function NewFact({ isBusy, onSet }: NewFactProps) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const isWhole = key.trim() !== '' && value.trim() !== '';
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWhole) return;
        onSet({ key: key.trim(), value: value.trim() });
        setKey('');
        setValue('');
      }}
    >
      <TextField
        label="Name"
        maxLength={256}
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <TextField
        label="Fact"
        maxLength={4_096}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Button type="submit" className="max-md:h-11" disabled={isBusy || !isWhole}>
        Set
      </Button>
    </form>
  );
}
