// A list at the left and one of it at the right; on a phone one at a time.
import type { ReactNode } from 'react';
import type { AddressChange } from '../address/address.ts';
import { Link } from '../address/link.tsx';

interface SplitViewProps {
  readonly list: ReactNode;
  /** Undefined while nothing is chosen. */
  readonly detail: ReactNode;
  readonly label: string;
  /** The address of the list alone. */
  readonly back: AddressChange;
  /** Whether the list has all the room while nothing is chosen. */
  readonly isListWide?: boolean;
}

export function SplitView({ list, detail, label, back, isListWide = false }: SplitViewProps) {
  const isChosen = detail !== undefined;
  const isAlone = isListWide && !isChosen;
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={`shrink-0 border-line max-md:w-full ${isAlone ? 'w-full' : 'w-[400px] border-r max-lg:w-[320px] max-md:border-r-0'} ${isChosen ? 'max-md:hidden' : ''}`}
      >
        {list}
      </div>
      <section
        aria-label={label}
        className={`flex min-w-0 flex-1 flex-col ${isChosen ? '' : 'max-md:hidden'} ${isAlone ? 'hidden' : ''}`}
      >
        {isChosen && (
          <Link
            to={back}
            className={`flex h-7 shrink-0 items-center border-b border-line px-3 text-accent max-md:h-11 ${isListWide ? '' : 'md:hidden'}`}
          >
            ‹ Back to the list
          </Link>
        )}
        {detail ?? <p className="px-4 py-12 text-center text-dim">Nothing is chosen.</p>}
      </section>
    </div>
  );
}
