// Pins of a server: what sessions have noticed, a look at the server, and accepting exactly what the look has shown.
import type { ApiPinsDiff, ApiServer } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from '../../address/link.tsx';
import { asked, post } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import { useMay } from '../../api/session.ts';
import { Button, CommandLine } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Value } from '../../parts/texts.tsx';
import { AcceptDialog } from './accept-dialog.tsx';
import { ProbeResult } from './probe-result.tsx';
import type { ShownChange } from './shown-change.ts';

export function PinsTab({ server }: { readonly server: ApiServer }) {
  const { server_name } = server;
  const ids = { server_name };
  const client = useQueryClient();
  const question = asked('pinsDiff', { ids });
  const { data, error, refetch } = useQuery(question);
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'surface')) void refetch();
  });
  const [wish, setWish] = useState<readonly ShownChange[]>();
  const [done, setDone] = useState('');
  const keep = (diff: ApiPinsDiff) => client.setQueryData(question.queryKey, diff);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys.
    <section aria-label="Pins" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex max-w-[1200px] flex-col gap-4 p-3">
        {error !== null && <FailureText cause={error} />}
        {data !== undefined && <Noticed diff={data} />}
        <ProbeBar name={server_name} onProbed={keep} onStart={() => setDone('')} />
        <p role="status" className={done === '' ? 'sr-only' : 'text-allow-ink'}>
          {done}
        </p>
        {data !== undefined && data.probe !== null && (
          <ProbeResult probe={data.probe} changes={data.changes} onAccept={setWish} />
        )}
        <div className="max-w-[480px]">
          <CommandLine command={`sub pins diff ${shellWord(server_name, 'SERVER')}`} />
        </div>
      </div>
      {wish !== undefined && (
        <AcceptDialog
          name={server_name}
          wish={wish}
          onClose={() => setWish(undefined)}
          onAccepted={(diff, words) => {
            keep(diff);
            setDone(words);
            setWish(undefined);
          }}
        />
      )}
    </section>
  );
}

function Noticed({ diff: { changes, is_pinned } }: { readonly diff: ApiPinsDiff }) {
  if (changes.length === 0) {
    return (
      <p className="text-dim">
        {is_pinned
          ? 'No session has noticed a change that nobody has accepted.'
          : 'Nothing of it is pinned. Its tools are pinned as they are when an agent next lists them, or when you accept them here.'}
      </p>
    );
  }
  return (
    <div>
      <h2 className="pb-1 text-12 text-dim">Noticed by sessions, accepted by nobody</h2>
      <ul>
        {changes.map(({ tool_name, enforced, detail, run_id, at_ms }) => (
          <li key={tool_name ?? ''} className="border-t border-line py-1">
            <span className="flex flex-wrap items-baseline gap-x-3">
              {tool_name === null ? <span>instructions</span> : <Value text={tool_name} />}
              <span className={enforced ? 'text-block-ink' : 'text-throttle-ink'}>
                {enforced ? '■ calls are refused' : '▲ only noticed'}
              </span>
              <span className="text-dim">
                <Ago atMs={at_ms} /> in{' '}
                <Link to={{ path: ['runs', run_id] }} className="text-accent hover:underline">
                  <Value text={run_id} lengthMax={16} />
                </Link>
              </span>
            </span>
            <p className="break-words">{plainText(detail)}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ProbeBarProps {
  readonly name: string;
  readonly onStart: () => void;
  readonly onProbed: (diff: ApiPinsDiff) => void;
}

/** To look at a server it must be started, which is for the owner to say. */
function ProbeBar({ name, onStart, onProbed }: ProbeBarProps) {
  const may = useMay('owner');
  const probe = useMutation({
    mutationFn: () => post('pinsProbe', {}, { server_name: name }),
    onMutate: onStart,
    onSuccess: onProbed,
  });
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <Button
          disabled={!may || probe.isPending}
          title={may ? undefined : 'A viewer may only look.'}
          onClick={() => probe.mutate()}
          className="max-md:h-11"
        >
          {probe.isPending ? 'Probing…' : 'Probe'}
        </Button>
        <span className="min-w-0 flex-1 text-dim">
          Starts the server as its client does, and asks what it shows. No tool is called.
        </span>
      </div>
      {probe.error !== null && <FailureText cause={probe.error} />}
    </div>
  );
}
