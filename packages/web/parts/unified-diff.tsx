import { plainLine } from './plain-text.ts';

const LINES_SHOWN = 1_000;
const LOOKS: { readonly [sign: string]: string } = {
  '+': 'bg-allow/15',
  '-': 'bg-block/15',
  '@': 'text-dim bg-raised',
};

/** A change as `diff -u` writes it; its signs stay, so that the colours are not alone. */
export function UnifiedDiff({ text, label }: { readonly text: string; readonly label: string }) {
  // The first two lines name the file.
  const lines = text.trimEnd().split('\n').slice(2);
  return (
    <div
      role="region"
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys.
      tabIndex={0}
      className="overflow-x-auto rounded-4 border border-line font-mono text-12"
    >
      <div className="w-max min-w-full">
        {lines.slice(0, LINES_SHOWN).map((line, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- A line is its place.
          <div key={at} className={`h-5 px-2 whitespace-pre ${LOOKS[line[0] ?? ''] ?? ''}`}>
            {plainLine(line)}
          </div>
        ))}
      </div>
      {lines.length > LINES_SHOWN && (
        <p className="px-2 text-dim">{lines.length - LINES_SHOWN} further lines are not shown.</p>
      )}
    </div>
  );
}
