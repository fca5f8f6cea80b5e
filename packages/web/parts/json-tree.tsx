// JSON as a tree that folds, with copies of the path and the value of each node.
import { useState } from 'react';
import { CopyButton } from './buttons.tsx';
import { ChevronIcon } from './icons.tsx';
import { foldedLine, plainText } from './plain-text.ts';

const OPEN_DEPTH = 2;
/** More are shown on demand: a document may have a hundred thousand members. */
const MEMBERS_SHOWN = 100;
const STRING_SHOWN = 400;

export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div className="font-mono text-12" role="tree" aria-label="JSON">
      <Node name="" path="" value={value} depth={0} />
    </div>
  );
}

interface NodeProps {
  readonly name: string;
  readonly path: string;
  readonly value: unknown;
  readonly depth: number;
}

function Node(props: NodeProps) {
  const { value } = props;
  return typeof value === 'object' && value !== null ? (
    <Branch {...props} value={value} />
  ) : (
    <Leaf {...props} />
  );
}

function Branch({ name, path, value, depth }: NodeProps & { readonly value: object }) {
  const members = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && members.length > 0);
  const [shown, setShown] = useState(MEMBERS_SHOWN);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const folded = members.length === 0 ? `${open}${close}` : `${open} ${members.length} ${close}`;
  return (
    <div role="treeitem" aria-expanded={isOpen} aria-selected={false}>
      <div className="group flex min-h-5 items-start">
        <button
          type="button"
          className="flex min-w-0 items-start text-left hover:bg-hover"
          onClick={() => setOpen(!isOpen && members.length > 0)}
        >
          <span className={`mt-0.5 text-dim ${isOpen ? 'rotate-90' : ''}`}>
            <ChevronIcon />
          </span>
          <Key name={name} />
          <span className="text-dim">{isOpen ? open : folded}</span>
        </button>
        <Copies path={path} value={value} />
      </div>
      {isOpen && (
        <div role="group" className="ml-2 border-l border-line pl-2">
          {members.slice(0, shown).map(([key, member]) => (
            <Node
              key={key}
              name={key}
              path={childPath(path, key, value)}
              value={member}
              depth={depth + 1}
            />
          ))}
          {members.length > shown && (
            <button type="button" className="text-accent" onClick={() => setShown(shown * 10)}>
              {members.length - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ name, path, value }: NodeProps) {
  const [isWhole, setWhole] = useState(false);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isLong = text.length > STRING_SHOWN;
  return (
    <div role="treeitem" aria-selected={false} className="group flex min-h-5 items-start pl-4">
      <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">
        <Key name={name} />
        <span className={typeof value === 'string' ? 'text-allow-ink' : 'text-ask-ink'}>
          {isLong && !isWhole ? foldedLine(text, STRING_SHOWN) : plainText(text)}
        </span>
        {isLong && (
          <button type="button" className="ml-1 text-accent" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'less' : 'all'}
          </button>
        )}
      </span>
      <Copies path={path} value={value} />
    </div>
  );
}

function Key({ name }: { readonly name: string }) {
  return name === '' ? null : (
    <span className="whitespace-pre-wrap text-dim">{`${foldedLine(name, 80)}: `}</span>
  );
}

function Copies({ path, value }: { readonly path: string; readonly value: unknown }) {
  return (
    <span className="-my-1 ml-auto flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
      {path !== '' && <CopyButton text={path} label="Copy the path" />}
      <CopyButton
        // A document that is nested too deeply can be looked at, but not written.
        text={() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
        label="Copy the value"
      />
    </span>
  );
}

const WORD = /^[A-Za-z_]\w*$/;

function childPath(path: string, key: string, parent: object): string {
  if (Array.isArray(parent)) return `${path}[${key}]`;
  if (!WORD.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
