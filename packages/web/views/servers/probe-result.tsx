// What a look at a server has shown, beside its pins.
import type { ApiPendingChange, ApiProbe } from '@subluminal/contracts';
import { useMay } from '../../api/session.ts';
import { countText } from '../../parts/amounts.ts';
import { Button } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { plainText } from '../../parts/plain-text.ts';
import { TextDiff } from '../../parts/text-diff.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { type ShownChange, shownChanges } from './shown-change.ts';

interface ProbeResultProps {
  readonly probe: ApiProbe;
  readonly changes: readonly ApiPendingChange[];
  readonly onAccept: (wish: readonly ShownChange[]) => void;
}

export function ProbeResult({ probe, changes, onAccept }: ProbeResultProps) {
  const may = useMay('owner');
  const isOver = useNow() >= probe.expires_at_ms;
  const shown = shownChanges(probe, changes);
  const acceptable = shown.filter((one) => one.acceptable);
  const title = may
    ? isOver
      ? 'It was looked at too long ago. Probe it again.'
      : undefined
    : 'A viewer may only look.';
  const mayNow = may && !isOver;
  return (
    <section aria-label="What the server shows" className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line pt-3">
        <h2 className="text-14">{summary(probe, shown)}</h2>
        <span className="text-dim">
          <Ago atMs={probe.at_ms} /> by {probe.transport}
          {probe.found_in !== null && (
            <>
              , as in <Value text={probe.found_in} lengthMax={48} />
            </>
          )}
        </span>
        {acceptable.length > 1 && (
          <Button
            className="ml-auto max-md:h-11"
            disabled={!mayNow}
            title={title}
            onClick={() => onAccept(acceptable)}
          >
            Accept all {acceptable.length}…
          </Button>
        )}
      </div>
      {probe.renamed.map(({ from, to }) => (
        <p key={from}>
          <Value text={from} /> seems to be <Value text={to} /> now: they differ in nothing but the
          name.
        </p>
      ))}
      {shown.map((change) => (
        <Change key={change.tool ?? ''} change={change}>
          {change.acceptable && (
            <Button
              className="max-md:h-11"
              disabled={!mayNow}
              title={title}
              onClick={() => onAccept([change])}
            >
              Accept…
            </Button>
          )}
        </Change>
      ))}
    </section>
  );
}

function summary(probe: ApiProbe, shown: readonly ShownChange[]): string {
  if (probe.first_sight) return 'Nothing is pinned yet';
  if (!probe.changed) return `All ${countText(probe.tools_total)} tools are as pinned`;
  return `${countText(shown.length)} ${shown.length === 1 ? 'change' : 'changes'}`;
}

const KINDS = {
  same: 'is as pinned again',
  unknown: 'not told',
  added: 'new',
  removed: 'gone',
  changed: 'changed',
  ambiguous: 'there twice under one name; it cannot be accepted',
  unpinnable: 'cannot be pinned',
} as const;

function Change(props: { readonly change: ShownChange; readonly children: React.ReactNode }) {
  const { tool, kind, before, after, fields, acceptable } = props.change;
  const isDiff = after !== null || before !== null;
  return (
    <article className="flex flex-col gap-1">
      <div className="flex min-h-7 flex-wrap items-center gap-x-3">
        <h3 className="text-13">
          {tool === null ? 'Instructions of the server' : <Value text={tool} />}
        </h3>
        <span className={kind === 'same' ? 'text-allow-ink' : 'text-block-ink'}>{KINDS[kind]}</span>
        <span className="ml-auto">{props.children}</span>
      </div>
      {fields.length > 0 && (
        <ul className="text-dim">
          {fields.map((field) => (
            <li key={`${field.kind} ${field.path}`} className="break-words">
              {field.kind} {field.path === '' ? 'all of it' : plainText(field.path)}
            </li>
          ))}
        </ul>
      )}
      {kind === 'changed' && acceptable && before === null && (
        <p className="text-dim">The text of what is pinned is not kept.</p>
      )}
      {isDiff && <TextDiff before={before ?? ''} after={after ?? ''} />}
      {!acceptable && kind !== 'ambiguous' && kind !== 'unpinnable' && (
        <p className="text-dim">
          It is too long to be shown here whole, so it cannot be accepted here: use{' '}
          <code className="font-mono">sub pins accept</code>.
        </p>
      )}
    </article>
  );
}
