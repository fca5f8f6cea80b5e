import type { ReactNode } from 'react';
import { Button } from './buttons.tsx';
import { Dialog } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';

interface AskFirstProps {
  readonly title: string;
  /** On the button that does it. */
  readonly action: string;
  readonly children: ReactNode;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

/** For what cannot be undone. */
export function AskFirst(props: AskFirstProps) {
  const { title, action, children, error, isPending, onYes, onNo } = props;
  return (
    <Dialog
      title={title}
      onClose={onNo}
      actions={
        <>
          <Button onClick={onNo}>Cancel</Button>
          <Button look="danger" disabled={isPending} onClick={onYes}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== null && <FailureText cause={error} />}
    </Dialog>
  );
}
