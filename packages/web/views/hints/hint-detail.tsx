// One hint: what was called, what the agent was told, and what can be made of it.
import type { ApiHintedCall } from '@subluminal/contracts';
import { type ReactNode, useState } from 'react';
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { useMay } from '../../api/session.ts';
import { Button, CommandLine } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { PromoteDialog } from './promote-dialog.tsx';

export function HintDetail({ call }: { readonly call: ApiHintedCall }) {
  const { hint, args_preview } = call;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys. */}
      <div tabIndex={0} className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex max-w-[1080px] flex-col gap-4 p-4">
          <h2 className="flex flex-wrap items-baseline gap-x-3 text-16 break-all">
            <Value text={`${call.server_name}/${call.tool_name}`} lengthMax={120} />
            <span className="text-13">
              <DecisionMark decision="REJECT_WITH_HINT" />
            </span>
          </h2>
          <Part title="The agent was told">
            <p className="border-l-2 border-hint px-3 break-words whitespace-pre-wrap">
              {plainText(hint.hint_text)}
            </p>
            {hint.retry_advice !== null && (
              <p className="px-3 text-dim">{plainText(hint.retry_advice)}</p>
            )}
          </Part>
          <HintFacts call={call} />
          <Part title="Arguments">
            {args_preview === null ? (
              <p className="text-dim">They are not kept.</p>
            ) : (
              <Json text={args_preview} />
            )}
          </Part>
          {hint.suggested_args_json !== null && (
            <Part title="Suggested instead">
              <Json text={hint.suggested_args_json} />
            </Part>
          )}
          <CommandLine
            command={`sub hints promote ${shellWord(call.call_id, 'ID')} --policy --dry-run`}
          />
        </div>
      </div>
      <PromoteBar call={call} />
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="pb-1 text-12 text-dim">{title}</h3>
      {children}
    </section>
  );
}

/** Previews may be cut, and are no JSON then. */
function Json({ text }: { readonly text: string }) {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // It is shown as the text that it is.
  }
  return <JsonTree value={value} />;
}

function HintFacts({ call }: { readonly call: ApiHintedCall }) {
  const { run_id, call_id, rule_id, summary, reason_code, agent_id, hint, run_ended } = call;
  return (
    <FactList>
      <Fact label="Rule">
        {rule_id === null ? (
          <span className="text-dim">none</span>
        ) : (
          <Link
            to={{ path: ['policy'], params: { rule: rule_id } }}
            className="text-accent hover:underline"
          >
            <Value text={rule_id} />
          </Link>
        )}
      </Fact>
      <Fact label="Reason">
        {plainText(summary ?? '')}{' '}
        {reason_code !== null && <span className="text-dim">{plainText(reason_code)}</span>}
      </Fact>
      <Fact label="Agent">
        <Value text={agent_id} />
      </Fact>
      <Fact label="Run">
        <Link to={{ path: ['runs', run_id] }} className="text-accent hover:underline">
          <Value text={run_id} lengthMax={40} />
        </Link>
        <span className="ml-2 text-dim">{run_ended ? 'ended' : 'goes on'}</span>
      </Fact>
      <Fact label="Call">
        <Link
          to={{ params: panelAddress('call', run_id, call_id) }}
          className="text-accent hover:underline"
        >
          <Value text={call_id} lengthMax={40} />
        </Link>
      </Fact>
      <Fact label="When">
        <Ago atMs={hint.created_at_ms} />
      </Fact>
    </FactList>
  );
}

function PromoteBar({ call }: { readonly call: ApiHintedCall }) {
  const may = useMay('owner');
  const [isOpen, setOpen] = useState(false);
  const [done, setDone] = useState('');
  return (
    <div className="flex min-h-[52px] shrink-0 flex-wrap items-center gap-3 border-t border-line bg-raised p-3">
      <Button
        disabled={!may}
        title={may ? undefined : 'A viewer may only look.'}
        onClick={() => setOpen(true)}
        className="justify-center max-md:h-11 max-md:flex-1"
      >
        Promote…
      </Button>
      <p role="status" className="min-w-0 break-words text-allow-ink">
        {done}
      </p>
      {isOpen && (
        <PromoteDialog
          call={call}
          onClose={() => setOpen(false)}
          onDone={(words) => {
            setDone(words);
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}
