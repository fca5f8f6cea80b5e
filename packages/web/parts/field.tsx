import type { ComponentProps } from 'react';

const BOX = 'h-7 min-w-0 rounded-4 border border-line bg-page px-2 max-md:h-11';

/** A labelled line of text in a form. */
export function TextField({
  label,
  ...rest
}: { readonly label: string } & ComponentProps<'input'>) {
  return (
    <label className="flex min-w-0 flex-col gap-px">
      <span className="text-12 text-dim">{label}</span>
      <input autoComplete="off" spellCheck={false} {...rest} className={BOX} />
    </label>
  );
}

/** A labelled choice in a form. */
export function SelectField({
  label,
  ...rest
}: { readonly label: string } & ComponentProps<'select'>) {
  return (
    <label className="flex min-w-0 flex-col gap-px">
      <span className="text-12 text-dim">{label}</span>
      <select {...rest} className={`${BOX} px-1`} />
    </label>
  );
}
