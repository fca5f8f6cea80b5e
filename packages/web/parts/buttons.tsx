import { type ComponentProps, type ReactNode, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.tsx';

type ButtonLook = 'plain' | 'primary' | 'danger';

const LOOKS: { readonly [look in ButtonLook]: string } = {
  plain: 'border-line bg-page text-ink hover:bg-hover',
  primary: 'border-accent bg-accent text-on-accent hover:opacity-90',
  danger: 'border-danger bg-page text-danger hover:bg-hover',
};

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: ButtonLook;
}

export function Button({ look = 'plain', className = '', ...rest }: ButtonProps) {
  const shape =
    'inline-flex h-7 items-center gap-1 rounded-4 border px-2 text-13 whitespace-nowrap';
  return <button type="button" {...rest} className={`${shape} ${LOOKS[look]} ${className}`} />;
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'aria-label' | 'title'> {
  readonly label: string;
}

/** A button that shows an icon alone; its label is read and shown as a title. */
export function IconButton({ label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-7 items-center justify-center rounded-4 text-dim hover:bg-hover hover:text-ink ${className}`}
    />
  );
}

const SHOWN_MS = 1_500;

interface CopyProps {
  /** A function where it is long to make, or may not be possible. */
  readonly text: string | (() => string);
  readonly label: string;
}

/** Copies a text, and says so. */
export function CopyButton({ text, label }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await toClipboard(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <IconButton label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
      {isCopied ? <CheckIcon /> : <CopyIcon />}
    </IconButton>
  );
}

async function toClipboard(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  // A page that came from another machine without TLS has no clipboard but this one.
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- There is no other way in such a page.
  document.execCommand('copy');
  field.remove();
}

/** The command that shows or does the same in a terminal. */
export function CommandLine({ command }: { readonly command: string }) {
  return (
    <div className="flex items-center gap-1 rounded-4 bg-raised pl-2 font-mono text-12">
      <code className="min-w-0 flex-1 truncate" title={command}>
        {command}
      </code>
      <CopyButton text={command} label="Copy the command" />
    </div>
  );
}

/** What a view shows while it has nothing: what would be here, and the one command that brings it. */
export function EmptyState(props: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly command?: string;
}) {
  return (
    <div className="mx-auto flex max-w-[480px] flex-col gap-2 px-4 py-12 text-center">
      <h2 className="text-16">{props.title}</h2>
      {props.children !== undefined && <p className="text-dim">{props.children}</p>}
      {props.command !== undefined && (
        <div className="mx-auto w-full max-w-[400px] text-left">
          <CommandLine command={props.command} />
        </div>
      )}
    </div>
  );
}
