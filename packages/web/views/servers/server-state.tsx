// States of a server in a word, with a shape, so that the colour is never alone.
import type { ApiServer, ApiServerTool } from '@subluminal/contracts';
import { plainLine } from '../../parts/plain-text.ts';

const TONES = {
  good: ['●', 'text-allow', 'text-allow-ink'],
  warn: ['▲', 'text-throttle', 'text-throttle-ink'],
  bad: ['■', 'text-block', 'text-block-ink'],
  none: ['', '', 'text-dim'],
} as const;

interface StateWordProps {
  readonly tone: keyof typeof TONES;
  readonly children: string;
  readonly title?: string | undefined;
}

function StateWord({ tone, children, title }: StateWordProps) {
  const [shape, mark, ink] = TONES[tone];
  return (
    <span className="inline-flex items-baseline gap-1 whitespace-nowrap" title={title}>
      {shape !== '' && (
        <span className={mark} aria-hidden="true">
          {shape}
        </span>
      )}
      <span className={ink}>{children}</span>
    </span>
  );
}

export function PinsWord({ server }: { readonly server: ApiServer }) {
  const { changes, tools, instructions_pin } = server;
  if (changes.length > 0) {
    const isEnforced = changes.some(({ enforced }) => enforced);
    const title = isEnforced ? 'Calls are refused until a person accepts it.' : 'Only noticed.';
    return (
      <StateWord
        tone={isEnforced ? 'bad' : 'warn'}
        title={title}
      >{`${changes.length} changed`}</StateWord>
    );
  }
  const isPinned = instructions_pin !== null || tools.some(({ pin }) => pin !== null);
  return isPinned ? (
    <StateWord tone="good">pinned</StateWord>
  ) : (
    <StateWord tone="none" title="Pinned when an agent next lists its tools.">
      not pinned
    </StateWord>
  );
}

export function ToolPinWord({ tool }: { readonly tool: ApiServerTool }) {
  const { pin, change } = tool;
  if (change !== null) {
    return (
      <StateWord tone={change.enforced ? 'bad' : 'warn'} title={plainLine(change.detail)}>
        changed
      </StateWord>
    );
  }
  if (pin === null) return <StateWord tone="none">not pinned</StateWord>;
  return pin.accepted_at_ms === null ? (
    <StateWord tone="good" title="As it was first seen.">
      pinned
    </StateWord>
  ) : (
    <StateWord tone="good" title="A person has accepted it.">
      accepted
    </StateWord>
  );
}

export function ManifestWord({ manifest }: { readonly manifest: ApiServer['manifest'] }) {
  const { state, problem, path } = manifest;
  if (state === 'none') return <StateWord tone="none">none</StateWord>;
  return state === 'valid' ? (
    <StateWord tone="good" title={plainLine(path)}>
      valid
    </StateWord>
  ) : (
    <StateWord tone="bad" title={plainLine(problem ?? path)}>
      broken
    </StateWord>
  );
}

export function BreakerWord({ breaker }: { readonly breaker: ApiServer['breaker'] }) {
  const { state, detail } = breaker;
  const title = detail === null ? undefined : plainLine(detail);
  if (state === 'open') {
    return (
      <StateWord tone="bad" title={title}>
        open
      </StateWord>
    );
  }
  return state === 'closed' ? (
    <StateWord tone="good" title={title}>
      closed
    </StateWord>
  ) : (
    <StateWord tone="none" title="No run that goes on tells of it.">
      unknown
    </StateWord>
  );
}

const TIERS = {
  auto_execute: ['good', 'runs'],
  log_and_execute: ['good', 'runs, logged'],
  human_approval: ['warn', 'asks a person'],
  forbidden: ['bad', 'forbidden'],
} as const;

/** What the manifest says of a tool. */
export function TierWord({ tier }: { readonly tier: ApiServerTool['tier'] }) {
  if (tier === null) return null;
  const [tone, word] = TIERS[tier];
  return <StateWord tone={tone}>{word}</StateWord>;
}
