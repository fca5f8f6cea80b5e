import { CopyButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
  readonly help: string;
  readonly onClose: () => void;
}

/** A key or an invite: the server keeps only its hash, and the page forgets it when this closes. */
export function ShownOnce({ title, secret, help, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{help}</p>
      <div className="flex items-start gap-1 rounded-4 bg-raised py-1 pl-2">
        <code className="min-w-0 flex-1 py-1 font-mono text-12 break-all select-all">{secret}</code>
        <CopyButton text={secret} label="Copy" />
      </div>
      <p className="text-dim">It is shown this once.</p>
    </Dialog>
  );
}
