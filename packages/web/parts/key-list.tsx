import { type Shortcut, shortcutsOf } from './shortcuts.ts';

interface KeyListProps {
  readonly plane: 'ledger' | 'gateway';
  /** Those of the views. */
  readonly more?: readonly Shortcut[];
}

/** The keys that work in the page of this server. */
export function KeyList({ plane, more }: KeyListProps) {
  return (
    <dl className="grid grid-cols-2 gap-x-4">
      {[...shortcutsOf(plane), ...(more ?? [])].map(({ keys, what }) => (
        <div key={keys} className="flex h-7 items-center gap-2">
          <dt className="w-14 shrink-0">
            <kbd className="rounded-2 border border-line bg-raised px-1 font-mono text-12">
              {keys}
            </kbd>
          </dt>
          <dd className="min-w-0 truncate">{what}</dd>
        </div>
      ))}
    </dl>
  );
}
