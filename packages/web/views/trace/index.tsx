// A turn at a gateway: where it went, attempt by attempt, and all that is on record about it.
import type {
  GatewayAnswerOf,
  GatewayAuditEvent,
  GatewayCostAttempt,
  GatewayRoutingEvent,
} from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import type { PanelProps } from '../../address/panel-address.ts';
import { askedGateway } from '../../api/gateway.ts';
import { dollarsText } from '../../parts/amounts.ts';
import { CommandLine, CopyButton } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { AttemptItem } from './attempt.tsx';

type Trace = GatewayAnswerOf<'auditTrace'>;

export function TracePanel({ ids: [id = ''] }: PanelProps) {
  const { data, error } = useQuery(askedGateway('auditTrace', { ids: { trace_id: id } }));
  return (
    <div className="flex flex-col gap-4">
      <h2 className="flex items-center gap-1 text-16">
        <span>Trace</span>
        <span className="min-w-0 truncate">
          <Value text={id} lengthMax={36} />
        </span>
        <CopyButton text={id} label="Copy the id" />
      </h2>
      {error !== null && <FailureText cause={error} />}
      {data !== undefined && <TraceContent trace={data} />}
    </div>
  );
}

function TraceContent({ trace }: { readonly trace: Trace }) {
  const attempts = attemptsOf(trace);
  const { events } = trace;
  return (
    <>
      <TraceFacts trace={trace} />
      <section aria-label="Attempts">
        <h3 className="border-b border-line pb-1 text-14">
          Attempts <span className="text-12 text-dim">{attempts.length}</span>
        </h3>
        {attempts.length === 0 ? (
          <p className="py-1 text-dim">It was sent to no provider.</p>
        ) : (
          <ol>
            {attempts.map(({ routing, cost }, at) => (
              <AttemptItem
                key={at}
                number={at + 1}
                routing={routing}
                cost={cost}
                isLast={at === attempts.length - 1}
              />
            ))}
          </ol>
        )}
      </section>
      <section aria-label="Events">
        <h3 className="border-b border-line pb-1 text-14">
          On record <span className="text-12 text-dim">{events.length}</span>
        </h3>
        <ol>
          {events.map((event) => (
            <EventItem key={event.id} event={event} />
          ))}
        </ol>
      </section>
      {attempts.length > 0 && (
        <CommandLine
          command={`sub routing replay ${shellWord(trace.trace_id, 'TRACE')} --config DIR`}
        />
      )}
    </>
  );
}

interface TraceAttempt {
  readonly routing: GatewayRoutingEvent | undefined;
  readonly cost: GatewayCostAttempt | undefined;
}

/** What was routed and what it cost, paired by number; either may be missing. */
function attemptsOf({ routing, costs }: Trace): readonly TraceAttempt[] {
  const idOf = (one: GatewayRoutingEvent | GatewayCostAttempt) =>
    `${one.is_shadow ? 1 : 0} ${String(one.attempt_no).padStart(6, '0')}`;
  const ids = [...new Set([...routing, ...costs].map(idOf))].toSorted();
  return ids.map((id) => ({
    routing: routing.find((one) => idOf(one) === id),
    cost: costs.find((one) => idOf(one) === id),
  }));
}

function TraceFacts({ trace: { events, costs } }: { readonly trace: Trace }) {
  const [first] = events;
  const micros = costs.reduce((sum, { cost_micros }) => sum + cost_micros, 0);
  return (
    <FactList>
      {first !== undefined && (
        <>
          <Fact label="When">
            <Ago atMs={first.at_ms} />
          </Fact>
          <Fact label="Who">
            <Value text={first.user_id} /> <span className="text-dim">of</span>{' '}
            <Value text={first.team_id} />
          </Fact>
          {first.repo_id !== null && (
            <Fact label="Repository">
              <Value text={first.repo_id} />
            </Fact>
          )}
          {first.session_id !== null && (
            <Fact label="Session">
              <Value text={first.session_id} />
            </Fact>
          )}
        </>
      )}
      <Fact label="Cost">{dollarsText(micros)}</Fact>
    </FactList>
  );
}

function EventItem({ event }: { readonly event: GatewayAuditEvent }) {
  const { decision, detail, request_summary, rule_ids, error_code } = event;
  return (
    <li className="border-b border-line py-2">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-mono">{plainLine(event.event_type)}</span>
        {error_code !== null && <span className="text-block-ink">■ {plainLine(error_code)}</span>}
        {rule_ids.length > 0 && (
          <span className="text-dim">
            by <span className="font-mono">{rule_ids.map(plainLine).join(', ')}</span>
          </span>
        )}
        <span className="ml-auto text-12 text-dim">
          <Ago atMs={event.at_ms} />
        </span>
      </p>
      <Recorded title="Decision" value={decision} isOpen />
      <Recorded title="Request in figures" value={request_summary} />
      <Recorded title="Detail" value={detail} />
    </li>
  );
}

interface RecordedProps {
  readonly title: string;
  readonly value: unknown;
  readonly isOpen?: boolean;
}

function Recorded({ title, value, isOpen = false }: RecordedProps) {
  if (value === null || value === undefined) return null;
  return (
    <details open={isOpen} className="pt-1">
      <summary className="cursor-pointer text-12 text-dim">{title}</summary>
      <JsonTree value={value} />
    </details>
  );
}
