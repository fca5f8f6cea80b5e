import type { GatewayCostAttempt, GatewayRoutingEvent } from '@subluminal/contracts';
import { countText, dollarsText, durationText } from '../../parts/amounts.ts';
import { plainLine } from '../../parts/plain-text.ts';
import { Degraded, RouteOutcome } from '../../parts/route-marks.tsx';
import { type RouteMember, routeMember } from '../../parts/routing-words.ts';
import { Value } from '../../parts/texts.tsx';

interface AttemptProps {
  readonly number: number;
  readonly routing: GatewayRoutingEvent | undefined;
  readonly cost: GatewayCostAttempt | undefined;
  readonly isLast: boolean;
}

/** One link of the fallback chain: where it went, how it ended, what it cost, and what would have come next. */
export function AttemptItem({ number, routing, cost, isLast }: AttemptProps) {
  const member = memberOf(routing, cost);
  const pool = routing?.pool ?? cost?.pool ?? '';
  const isShadow = routing?.is_shadow ?? cost?.is_shadow ?? false;
  const chain = (routing?.fallback_chain ?? []).map(routeMember);
  const next = chain.slice(chain.findIndex((one) => isSame(one, member)) + 1);
  return (
    <li className="relative flex gap-3 pt-2">
      <span className="flex flex-col items-center">
        <span className="flex size-5 shrink-0 items-center justify-center rounded-4 border border-line bg-raised text-12">
          {number}
        </span>
        {!isLast && <span className="w-px flex-1 bg-line" aria-hidden="true" />}
      </span>
      <div className="min-w-0 flex-1 pb-2">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Value text={member.model} lengthMax={32} />
          <span className="text-dim">at</span>
          <Value text={member.endpointId} lengthMax={24} />
          <span className="ml-auto">
            <RouteOutcome error={routing?.error ?? cost?.error_class ?? null} />
          </span>
        </p>
        <p className="flex flex-wrap gap-x-2 text-12 text-dim">
          {isShadow && <span>shadow, nothing was sent</span>}
          <span>pool {plainLine(pool)}</span>
          <span>{plainLine(member.provider)}</span>
          {member.isPrivate && <span>private</span>}
          {routing !== undefined && <span>breaker {plainLine(routing.breaker_state)}</span>}
        </p>
        {routing !== undefined && routing.degraded_features.length > 0 && (
          <p className="text-12">
            Lost on the way: <Degraded features={routing.degraded_features} />
          </p>
        )}
        {cost !== undefined && <AttemptCost cost={cost} />}
        {next.length > 0 && (
          <p className="text-12 text-dim">
            {isLast ? 'Next would have come ' : 'Next in the chain: '}
            {next
              .map(({ endpointId, model }) => plainLine(`${endpointId} ${model}`))
              .join(', then ')}
          </p>
        )}
      </div>
    </li>
  );
}

function memberOf(
  routing: GatewayRoutingEvent | undefined,
  cost: GatewayCostAttempt | undefined,
): RouteMember {
  if (routing !== undefined) return routeMember(routing.member);
  return {
    endpointId: cost?.endpoint_id ?? '',
    provider: cost?.provider ?? '',
    model: cost?.model ?? '',
    isPrivate: cost?.is_private ?? false,
  };
}

function isSame(one: RouteMember, other: RouteMember): boolean {
  return one.endpointId === other.endpointId && one.model === other.model;
}

function AttemptCost({ cost }: { readonly cost: GatewayCostAttempt }) {
  return (
    <p className="flex flex-wrap gap-x-3 text-12">
      <span>{dollarsText(cost.cost_micros)}</span>
      {cost.cost_source === 'estimated' && <span className="text-dim">estimated</span>}
      <span>{durationText(cost.latency_ms)}</span>
      <span>{countText(cost.input_tokens)} tokens in</span>
      <span>{countText(cost.output_tokens)} out</span>
      {cost.cache_read_tokens > 0 && <span>{countText(cost.cache_read_tokens)} from cache</span>}
      {cost.cache_create_tokens > 0 && <span>{countText(cost.cache_create_tokens)} to cache</span>}
    </p>
  );
}
