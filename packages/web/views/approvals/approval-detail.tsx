// One call that waits, or that was decided: all of it, and the two buttons.
import type { ApiApproval } from '@subluminal/contracts';
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { durationText } from '../../parts/amounts.ts';
import { CommandLine } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { EditDiff } from '../../parts/edit-diff.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { ApprovalState } from './approval-state.tsx';
import { DecideBar } from './decide-bar.tsx';
import { useApproval } from './use-approvals.ts';

interface DetailProps {
  readonly id: string;
  /** Another call that waits. */
  readonly next?: string | undefined;
}

export function ApprovalDetail({ id, next }: DetailProps) {
  const { data, error } = useApproval(id);
  if (data === undefined) {
    return error === null ? null : (
      <div className="p-3">
        <FailureText cause={error} />
      </div>
    );
  }
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex max-w-[1080px] flex-col gap-4 p-4 max-sm:p-3">
          <Head approval={data} />
          <Said approval={data} />
          <Asker approval={data} />
          <Arguments approval={data} />
          <CommandLine command={`sub approvals show ${shellWord(id, 'ID')}`} />
        </div>
      </div>
      <DecideBar approval={data} next={next} />
    </>
  );
}

function Head({ approval }: { readonly approval: ApiApproval }) {
  const { call } = approval.request;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <DecisionMark decision="ASK" isWord={false} />
        <h2 className="text-16 break-all">
          <Value text={`${call.server}/${call.tool}`} lengthMax={120} />
        </h2>
        <span className="ml-auto">
          <TimeLeft approval={approval} />
        </span>
      </div>
      <p className="text-14 break-words whitespace-pre-wrap">{plainText(call.reason)}</p>
      <p className="text-dim">
        The rule{' '}
        <Link
          to={{ path: ['policy'], params: { rule: call.rule_id } }}
          className="text-accent hover:underline"
        >
          <Value text={call.rule_id} />
        </Link>{' '}
        asks
        {call.risk.length > 0 && <> about calls of this risk: {plainText(call.risk.join(', '))}</>}.
      </p>
    </div>
  );
}

/** What the agent says of its call: nobody has checked it. */
function Said({ approval }: { readonly approval: ApiApproval }) {
  const { about } = approval.request;
  if (about === undefined) return null;
  const { request, reasoning, task, channel, judgements = [] } = about;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-12 text-dim">What the agent says</h3>
      <FactList>
        {request !== undefined && <Fact label="The user said">{plainText(request)}</Fact>}
        <Fact label="Reasoning">{plainText(reasoning)}</Fact>
        <Fact label="Task">{plainText(task)}</Fact>
        <Fact label="Channel">{plainText(channel)}</Fact>
        {judgements.map(({ by, verdict, reason }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- A judgement is its place in the record.
          <Fact key={at} label={`Judged by ${plainText(by)}`}>
            {verdict.replaceAll('_', ' ').toLowerCase()}: {plainText(reason)}
          </Fact>
        ))}
      </FactList>
    </section>
  );
}

function TimeLeft({ approval }: { readonly approval: ApiApproval }) {
  const { request, state, outcome, asker } = approval;
  const nowMs = useNow();
  if (state !== 'pending') {
    return (
      <>
        <ApprovalState state={state} />
        {outcome !== null && (
          <span className="text-dim">
            {' '}
            by {plainText(outcome.by)} ({plainText(outcome.channel)}){' '}
            <Ago atMs={Date.parse(outcome.at)} />
          </span>
        )}
      </>
    );
  }
  if (asker === 'gone' && request.wait === 'hold') {
    return <span className="text-throttle-ink">the process that asked has ended</span>;
  }
  const leftMs = Math.max(0, Date.parse(request.expires_at) - nowMs);
  return <span>{durationText(Math.floor(leftMs / 1_000) * 1_000)} left</span>;
}

const WAITS = {
  hold: 'The call is held: the agent goes on when you decide.',
  hint: 'The agent was told to try again later: an approval lets the same call pass once.',
} as const;

function Asker({ approval }: { readonly approval: ApiApproval }) {
  const { request, outcome } = approval;
  const { agent, call } = request;
  const { run_id, call_id } = call;
  return (
    <FactList>
      <Fact label="Agent">
        <Value text={agent.agent_id} />{' '}
        <span className="text-dim">
          {agent.client}, {agent.env}
        </span>
      </Fact>
      <Fact label="Started by">
        {agent.principal === undefined ? 'nobody is named' : <Value text={agent.principal} />}
      </Fact>
      <Fact label="Run">
        <Link to={{ path: ['runs', run_id] }} className="text-accent hover:underline">
          <Value text={run_id} />
        </Link>
        {' · '}
        <Link to={{ params: panelAddress('call', run_id, call_id) }} className="text-accent">
          the call on record
        </Link>
      </Fact>
      <Fact label="Asked">
        <Ago atMs={Date.parse(request.created_at)} />
      </Fact>
      {approval.state === 'pending' && (
        <Fact label="Time-out">
          <Ago atMs={Date.parse(request.expires_at)} />
        </Fact>
      )}
      {approval.state === 'pending' && <Fact label="Waiting">{WAITS[request.wait]}</Fact>}
      {outcome?.note !== undefined && <Fact label="Note">{plainText(outcome.note)}</Fact>}
      {outcome?.grant !== undefined && (
        <Fact label="Grant">
          <Link
            to={{ path: ['approvals', outcome.grant], params: { tab: 'grants' } }}
            className="text-accent hover:underline"
          >
            <Value text={outcome.grant} />
          </Link>
        </Fact>
      )}
    </FactList>
  );
}

function Arguments({ approval }: { readonly approval: ApiApproval }) {
  const { args, args_complete, args_hash } = approval.request.call;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-12 text-dim">Arguments</h3>
      {!args_complete && (
        <p className="border-l-2 border-throttle px-3 py-1">
          Not all of them are shown: secrets were taken out, or they are too large. What is approved
          has the hash <Value text={args_hash} lengthMax={24} />.
        </p>
      )}
      <EditDiff args={args} />
      <JsonTree value={args} />
    </section>
  );
}
