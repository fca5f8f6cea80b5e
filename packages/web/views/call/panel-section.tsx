import { type ReactNode, useState } from 'react';
import { ChevronIcon } from '../../parts/icons.tsx';

interface SectionProps {
  readonly title: string;
  /** Beside the title: a count, a warning. */
  readonly note?: ReactNode;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** A part of a panel that folds; what is folded is not in the document. */
export function PanelSection({ title, note, isOpen = true, children }: SectionProps) {
  const [isShown, setShown] = useState(isOpen);
  return (
    <details
      open={isShown}
      onToggle={({ currentTarget }) => setShown(currentTarget.open)}
      className="group/part border-t border-line"
    >
      <summary className="flex h-8 cursor-pointer items-center gap-1 select-none">
        <span className="-ml-1 text-dim group-open/part:rotate-90">
          <ChevronIcon />
        </span>
        <h3 className="text-13">{title}</h3>
        <span className="ml-auto text-12 text-dim">{note}</span>
      </summary>
      {isShown && <div className="pb-3">{children}</div>}
    </details>
  );
}
