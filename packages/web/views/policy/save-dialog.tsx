// The last look before a policy is saved: what it changes, and what it would have done.
import type { ApiPolicyActive, ApiPolicySaved } from '@subluminal/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { TextDiff } from '../../parts/text-diff.tsx';
import { Value } from '../../parts/texts.tsx';
import { BehaviourDiff, usePolicyDiff } from './diff-tool.tsx';
import { type GivenPolicy, givenBody } from './given-policy.ts';
import { ReplaySummary } from './replay-tool.tsx';
import type { EditedPolicy } from './use-draft.ts';

interface SaveDialogProps {
  readonly active: ApiPolicyActive;
  readonly edited: EditedPolicy;
  readonly onClose: () => void;
  readonly onSaved: (saved: ApiPolicySaved) => void;
}

function useReplay(given: GivenPolicy) {
  return useQuery({
    queryKey: ['policyReplay', given],
    queryFn: () => post('policyReplay', givenBody(given)),
    gcTime: 0,
    retry: false,
  });
}

export function SaveDialog({ active, edited, onClose, onSaved }: SaveDialogProps) {
  const given = { text: edited.text, path: active.path };
  const diff = usePolicyDiff(given);
  const replay = useReplay(given);
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: async () => {
      try {
        return await post('policySave', { ...givenBody(given), base_sha256: edited.base });
      } finally {
        // Also after a refusal: the file may be another one now.
        await client.invalidateQueries({ queryKey: ['policyActive'] });
      }
    },
    onSuccess: (answer) => {
      onSaved(answer);
      edited.discard();
    },
  });
  const isSeen = diff.isSuccess && !replay.isPending;
  return (
    <Dialog
      title="Save this policy?"
      onClose={onClose}
      actions={
        <>
          <Button className="max-md:h-11" onClick={onClose}>
            Cancel
          </Button>
          <Button
            look="primary"
            className="max-md:h-11"
            disabled={!isSeen || save.isPending}
            onClick={() => save.mutate()}
          >
            Save policy
          </Button>
        </>
      }
    >
      <p>
        <Value text={active.path ?? ''} lengthMax={80} />
      </p>
      <div className="flex max-h-[60vh] min-h-40 flex-col gap-3 overflow-y-auto">
        {diff.error !== null && <FailureText cause={diff.error} />}
        {diff.data !== undefined && <BehaviourDiff diff={diff.data} />}
        {replay.isPending && <p className="text-dim">Replaying past runs…</p>}
        {replay.error !== null && <FailureText cause={replay.error} />}
        {replay.data !== undefined && <ReplaySummary replay={replay.data} />}
        <TextDiff before={active.text ?? ''} after={edited.text} />
      </div>
      {save.error !== null && <FailureText cause={save.error} />}
    </Dialog>
  );
}
