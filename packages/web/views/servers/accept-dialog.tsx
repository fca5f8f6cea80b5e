// The last step before pins are written: they must still be what was shown, or nothing is.
import type { ApiPinsDiff } from '@subluminal/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Value } from '../../parts/texts.tsx';
import { acceptBody, type ShownChange } from './shown-change.ts';

interface AcceptDialogProps {
  readonly name: string;
  readonly wish: readonly ShownChange[];
  readonly onClose: () => void;
  readonly onAccepted: (diff: ApiPinsDiff, words: string) => void;
}

export function AcceptDialog({ name, wish, onClose, onAccepted }: AcceptDialogProps) {
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => post('pinsAccept', acceptBody(wish), { server_name: name }),
    onSuccess: ({ accepted, instructions, diff }) =>
      onAccepted(diff, acceptedWords(accepted.length, instructions)),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['server'] });
      // After a refusal: what is shown is not what is there.
      void client.invalidateQueries({ queryKey: ['pinsDiff'] });
    },
  });
  return (
    <Dialog
      title="Accept what was shown?"
      onClose={onClose}
      actions={
        <>
          <Button className="max-md:h-11" onClick={onClose}>
            Cancel
          </Button>
          <Button
            look="primary"
            className="max-md:h-11"
            disabled={accept.isPending || accept.isError}
            onClick={() => accept.mutate()}
          >
            Accept
          </Button>
        </>
      }
    >
      <p>
        Agents may call these as they are now, until they change again. Sessions that run take it
        up.
      </p>
      <ul className="max-h-60 overflow-y-auto border-y border-line">
        {wish.map(({ tool, kind, seen }) => (
          <li key={tool ?? ''} className="flex min-h-7 items-center gap-3">
            <span className="min-w-0 flex-1 truncate">
              {tool === null ? 'Instructions of the server' : <Value text={tool} lengthMax={40} />}
            </span>
            <span className="text-dim">{kind === 'removed' ? 'forgotten' : kind}</span>
            {seen !== null && <Value text={seen} lengthMax={13} />}
          </li>
        ))}
      </ul>
      {accept.error !== null && <FailureText cause={accept.error} />}
    </Dialog>
  );
}

function acceptedWords(tools: number, instructions: boolean): string {
  const parts = [
    ...(tools === 0 ? [] : [tools === 1 ? '1 tool' : `${tools} tools`]),
    ...(instructions ? ['the instructions'] : []),
  ];
  return `Accepted: ${parts.join(' and ')}.`;
}
