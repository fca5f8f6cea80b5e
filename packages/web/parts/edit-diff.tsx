// What a call does to files, as a diff.
import { useMemo } from 'react';
import { type FileEdit, fileEdits } from './file-edits.ts';
import { TextDiff } from './text-diff.tsx';
import { Value } from './texts.tsx';

const WORDS: { readonly [kind in FileEdit['kind']]: string } = {
  edit: 'replaces text',
  write: 'writes the whole file; the call does not say what stands there now',
  insert: 'inserts text',
  delete: 'deletes the file',
};

/** Nothing where the arguments hold no edit of a file. */
export function EditDiff({ args }: { readonly args: unknown }) {
  const edits = useMemo(() => fileEdits(args), [args]);
  return edits.length === 0 ? null : (
    <div className="flex flex-col gap-2">
      {edits.map((edit, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- An edit is its place in the call.
        <figure key={at} className="flex flex-col gap-1">
          <figcaption className="flex flex-wrap gap-x-2">
            <Value text={edit.path} />
            <span className="text-dim">{WORDS[edit.kind]}</span>
          </figcaption>
          {edit.before + edit.after !== '' && <TextDiff before={edit.before} after={edit.after} />}
        </figure>
      ))}
    </div>
  );
}
