// A decision has one colour and one shape everywhere.
import { DECISION_LOOKS } from '@subluminal/contracts';

export type ShownDecision = keyof typeof DECISION_LOOKS;

/** Names of tokens: the mark, and words in its colour. */
const COLOURS: {
  readonly [decision in ShownDecision]: { readonly mark: string; readonly ink: string };
} = {
  ALLOW: { mark: 'text-allow', ink: 'text-allow-ink' },
  REJECT_WITH_HINT: { mark: 'text-hint', ink: 'text-hint-ink' },
  ASK: { mark: 'text-ask', ink: 'text-ask-ink' },
  THROTTLE: { mark: 'text-throttle', ink: 'text-throttle-ink' },
  BLOCK: { mark: 'text-block', ink: 'text-block-ink' },
  TERMINATE_RUN: { mark: 'text-terminate', ink: 'text-terminate-ink' },
};

/** The token of a fill: for charts and timelines. */
export const DECISION_FILLS: { readonly [decision in ShownDecision]: string } = {
  ALLOW: '--color-allow',
  REJECT_WITH_HINT: '--color-hint',
  ASK: '--color-ask',
  THROTTLE: '--color-throttle',
  BLOCK: '--color-block',
  TERMINATE_RUN: '--color-terminate',
};

export function isShownDecision(decision: string): decision is ShownDecision {
  return Object.hasOwn(DECISION_LOOKS, decision);
}

interface MarkProps {
  /** As the ledger has it; null while there is none. */
  readonly decision: string | null;
  /** Whether the word stands beside the shape. */
  readonly isWord?: boolean;
}

export function DecisionMark({ decision, isWord = true }: MarkProps) {
  const isKnown = decision !== null && isShownDecision(decision);
  const { shape, word } = isKnown ? DECISION_LOOKS[decision] : { shape: '…', word: 'undecided' };
  const { mark, ink } = isKnown ? COLOURS[decision] : { mark: 'text-dim', ink: 'text-dim' };
  return (
    <span
      className="inline-flex items-baseline gap-1 whitespace-nowrap"
      title={isWord ? undefined : word}
    >
      <span className={`${mark} inline-block w-3 text-center`} aria-hidden={isWord}>
        {shape}
      </span>
      {isWord ? <span className={ink}>{word}</span> : <span className="sr-only">{word}</span>}
    </span>
  );
}
