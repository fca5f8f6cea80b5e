// What Steward remembers: whose words it is, how far it is trusted, and what waits for the user.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { countText } from '../../parts/amounts.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { useDebounced } from '../../parts/debounced.ts';
import { FailureText } from '../../parts/failure-text.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { CoreFacts } from './core-facts.tsx';
import { MemoryEntry } from './memory-entry.tsx';
import { MemoryReview } from './memory-review.tsx';
import { AGAIN_MS, type StewardMemory, useDecision } from './use-steward.ts';

type Provenance = StewardMemory['provenance'];

const SHOWN = 200;
const PROVENANCES: readonly (readonly [Provenance, string])[] = [
  ['user_instruction', 'Your own words'],
  ['agent_observation', 'What the agent noted'],
  ['external_content', 'Text from outside'],
  ['tool_result', 'Results of tools'],
];

export function MemoryTab() {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex max-w-[1080px] flex-col gap-6 p-4 max-sm:p-3">
        <MemoryReview />
        <CoreFacts />
        <Entries />
      </div>
    </div>
  );
}

function Entries() {
  const { params } = useAddress();
  const [containing, setContaining] = useState(params['q'] ?? '');
  const provenance = PROVENANCES.find(([name]) => name === params['from'])?.[0];
  const wanted = useDebounced(containing.trim());
  const query = { limit: SHOWN, containing: wanted, ...(provenance && { provenance }) };
  const { data, error } = useQuery({
    ...asked('stewardMemory', { query }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const isFiltered = wanted !== '' || provenance !== undefined;
  return (
    <section aria-label="Memory" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label="Search"
          type="search"
          value={containing}
          onChange={({ target }) => {
            setContaining(target.value);
            goTo({ params: { q: target.value } }, 'replace');
          }}
        />
        <SelectField
          label="From"
          value={provenance ?? ''}
          onChange={({ target }) => goTo({ params: { from: target.value } }, 'replace')}
        >
          <option value="">Everything</option>
          {PROVENANCES.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </SelectField>
        {wanted !== '' && <ForgetAll containing={wanted} />}
        {data !== undefined && (
          <p className="ml-auto text-dim">
            {countText(data.counts.active)} active,{' '}
            {countText(data.counts.review + data.counts.quarantined)} kept back
            {data.vectors === null && ', searched by words alone'}
          </p>
        )}
      </div>
      {error !== null && <FailureText cause={error} />}
      {data?.entries.length === 0 && <NothingKnown isFiltered={isFiltered} />}
      <ul className="flex flex-col">
        {data?.entries.map((entry) => (
          <MemoryEntry key={entry.id} entry={entry} />
        ))}
      </ul>
      {data?.entries.length === SHOWN && (
        <p className="text-dim">Only the newest {SHOWN} are shown. Search for the others.</p>
      )}
    </section>
  );
}

function NothingKnown({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <p className="py-4 text-dim">No entry fits.</p>
  ) : (
    <EmptyState title="Nothing is remembered yet.">
      What you tell Steward to remember, and what it notes while it works, stands here with where it
      came from.
    </EmptyState>
  );
}

/** Everything that holds a text, whichever part of the memory it is in. */
function ForgetAll({ containing }: { readonly containing: string }) {
  const mayAct = useMay('owner');
  const [isAsking, setAsking] = useState(false);
  const forget = useDecision(() => post('stewardForget', { containing }));
  if (!mayAct) return null;
  return (
    <>
      <Button look="danger" className="max-md:h-11" onClick={() => setAsking(true)}>
        Forget all of these…
      </Button>
      {isAsking && (
        <AskFirst
          title="Forget for good?"
          action="Forget"
          error={forget.error}
          isPending={forget.isPending}
          onNo={() => setAsking(false)}
          onYes={() => forget.mutate(undefined, { onSuccess: () => setAsking(false) })}
        >
          <p className="break-words">
            All entries, core facts and requests that hold “{containing}” are removed, also from
            indexes. This cannot be undone.
          </p>
        </AskFirst>
      )}
    </>
  );
}
