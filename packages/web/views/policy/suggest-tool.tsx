import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/ledger.ts';
import { countText } from '../../parts/amounts.ts';
import { Button } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { TextDiff } from '../../parts/text-diff.tsx';
import { SpanSelect, sinceOf } from './span-select.tsx';
import type { EditedPolicy } from './use-draft.ts';

/** A policy made from the calls that were seen. Nothing is taken over before one says so. */
export function SuggestTool({ edited }: { readonly edited: EditedPolicy }) {
  const [span, setSpan] = useState('');
  const suggest = useMutation({ mutationFn: () => post('policySuggest', sinceOf(span)) });
  const { data } = suggest;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SpanSelect span={span} onSpan={setSpan} />
        <Button disabled={suggest.isPending} onClick={() => suggest.mutate()}>
          Suggest from calls
        </Button>
      </div>
      {suggest.error !== null && <FailureText cause={suggest.error} />}
      {data !== undefined && (
        <>
          <p role="status">
            Made from {countText(data.calls)} calls. Review it before you save it.
          </p>
          <div>
            <Button look="primary" onClick={() => edited.setText(data.policy)}>
              {edited.isDirty ? 'Replace the edited text' : 'Load into the editor'}
            </Button>
          </div>
          <TextDiff before={edited.text} after={data.policy} />
        </>
      )}
    </div>
  );
}
