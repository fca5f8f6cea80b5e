// The line at the top of a view: its name, its tabs, and what else belongs there.
import type { ReactNode } from 'react';
import type { AddressChange } from '../address/address.ts';
import { Link } from '../address/link.tsx';
import { CommandLine } from './buttons.tsx';

export interface ViewTab {
  readonly title: string;
  readonly to: AddressChange;
  readonly isHere: boolean;
  readonly count?: number | undefined;
}

interface ViewHeadProps {
  readonly title: string;
  readonly tabs?: readonly ViewTab[];
  /** What shows the same in a terminal. */
  readonly command?: string;
  readonly children?: ReactNode;
}

export function ViewHead({ title, tabs, command, children }: ViewHeadProps) {
  return (
    <header className="flex min-h-10 shrink-0 flex-wrap items-center gap-x-4 border-b border-line px-3">
      <h1 className="text-14 font-semibold">{title}</h1>
      {tabs !== undefined && (
        <nav aria-label={`Parts of ${title}`} className="flex self-stretch">
          {tabs.map((tab) => (
            <Link
              key={tab.title}
              to={tab.to}
              aria-current={tab.isHere ? 'true' : undefined}
              className={`flex h-10 items-center gap-1 border-b-2 px-2 max-sm:h-11 ${tab.isHere ? 'border-accent' : 'border-transparent text-dim hover:text-ink'}`}
            >
              {tab.title}
              {tab.count !== undefined && <span className="text-12 text-dim">{tab.count}</span>}
            </Link>
          ))}
        </nav>
      )}
      {children}
      {command !== undefined && (
        <div className="ml-auto w-60 max-lg:hidden">
          <CommandLine command={command} />
        </div>
      )}
    </header>
  );
}
