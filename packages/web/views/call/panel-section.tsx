import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  /** Beside the title: a count, a warning. */
  readonly note?: ReactNode;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** A part of a panel that folds. */
export function PanelSection({ title, note, isOpen = true, children }: SectionProps) {
  return (
    <details open={isOpen} className="group/part border-t border-line">
      <summary className="flex h-8 cursor-pointer items-center gap-2 select-none">
        <span className="w-3 text-dim group-open/part:rotate-90" aria-hidden="true">
          ›
        </span>
        <h3 className="text-13">{title}</h3>
        <span className="ml-auto text-12 text-dim">{note}</span>
      </summary>
      <div className="pb-3">{children}</div>
    </details>
  );
}
