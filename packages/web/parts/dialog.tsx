// A question above the page. The element of the browser keeps the focus inside and closes on Escape.
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './buttons.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** The buttons; without them one closes it. */
  readonly actions?: ReactNode;
}

export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      className="m-auto w-full max-w-[560px] rounded-4 border border-line bg-page text-ink shadow-panel backdrop:bg-black/40"
    >
      <div className="flex flex-col gap-3 p-4">
        <h2 className="text-16">{title}</h2>
        {children}
        <div className="flex justify-end gap-2">
          {actions ?? <Button onClick={() => element.current?.close()}>Close</Button>}
        </div>
      </div>
    </dialog>
  );
}
