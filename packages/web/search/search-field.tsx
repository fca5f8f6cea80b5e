// The search: a text field that completes what is typed, and says what it does not understand.
import type { SearchProblem } from '@subluminal/contracts';
import {
  type KeyboardEvent,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { goTo } from '../address/address.ts';
import { SearchIcon } from '../parts/icons.tsx';
import { plainLine } from '../parts/plain-text.ts';
import { useShortcut } from '../parts/shortcuts.ts';
import { type Completion, completed, completionsAt } from './completions.ts';
import { useKnownNames } from './known-names.ts';
import type { ShownFilter } from './ranges.ts';

const INPUT = {
  type: 'text',
  'aria-label': 'Search calls',
  autoComplete: 'off',
  spellCheck: false,
  placeholder: 'Filter, like tool:git_* decision:refused path:.env since:2h',
  className:
    'h-7 w-full rounded-4 border border-line bg-page pr-2 pl-8 font-mono text-13 placeholder:text-dim aria-invalid:border-danger max-sm:h-9',
} as const;

export function SearchField({ text, search }: ShownFilter) {
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [isFocused, setFocused] = useState(false);
  const [active, setActive] = useState(-1);
  const known = useKnownNames(isFocused);
  const place = useCaretPlace(input);
  useShortcut('/', () => input.current?.focus());

  const found = completionsAt(text, caret, known);
  // Behind a word that is complete, the list would hide what was found: ArrowDown brings it.
  const isTyping = text.trim() === '' || found.from < caret || active >= 0;
  const isOpen = isFocused && isTyping && found.items.length > 0;
  // What is still being typed is not wrong yet.
  const problems = problemsOf(search).filter(({ to }) => !(isOpen && to === caret));
  const change = (next: string, at: number) => {
    goTo({ params: { q: next } }, 'replace');
    setCaret(at);
    setActive(-1);
  };
  const take = (item: Completion) => {
    const next = completed(text, found, item);
    place(next.caret);
    change(next.text, next.caret);
  };
  const chosen = found.items[active];
  const onKey = (event: KeyboardEvent) => {
    const work = fieldKey(event.key, {
      isOpen,
      move: (step) => setActive(Math.max(-1, Math.min(found.items.length - 1, active + step))),
      take: chosen && (() => take(chosen)),
      leave: () => input.current?.blur(),
    });
    if (work === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    work();
  };
  return (
    <div className="relative min-w-0 flex-1 max-sm:basis-full">
      <span className="pointer-events-none absolute inset-y-0 left-2 flex items-center text-dim">
        <SearchIcon />
      </span>
      <input
        ref={input}
        {...INPUT}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-invalid={problems.length > 0}
        aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
        value={text}
        onChange={({ target }) => change(target.value, target.selectionStart ?? 0)}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onKeyDown={onKey}
      />
      {(isOpen || problems.length > 0) && (
        <div className="absolute top-full right-0 left-0 z-30 mt-1 rounded-4 border border-line bg-page py-1 shadow-panel">
          <Problems problems={problems} />
          {isOpen && <Offers {...{ listId, active, items: found.items, onTake: take }} />}
        </div>
      )}
    </div>
  );
}

/** Puts the caret where it belongs in the next text, before a further key can come. */
function useCaretPlace(input: RefObject<HTMLInputElement | null>): (caret: number) => void {
  const next = useRef<number>(undefined);
  useLayoutEffect(() => {
    const caret = next.current;
    next.current = undefined;
    if (caret !== undefined) input.current?.setSelectionRange(caret, caret);
  });
  return (caret) => {
    next.current = caret;
  };
}

function problemsOf(search: ShownFilter['search']): readonly SearchProblem[] {
  return search.kind === 'problems' ? search.problems : [];
}

interface FieldActions {
  readonly isOpen: boolean;
  readonly move: (step: number) => void;
  /** Of the offer that is chosen. */
  readonly take: (() => void) | undefined;
  readonly leave: () => void;
}

/** What a key does in the field; undefined where it types. */
function fieldKey(key: string, { isOpen, move, take, leave }: FieldActions) {
  if (key === 'Escape') return leave;
  if (key === 'Enter') return (isOpen && take) || leave;
  if (key === 'ArrowDown') return () => move(1);
  if (!isOpen) return undefined;
  if (key === 'ArrowUp') return () => move(-1);
  return key === 'Tab' ? (take ?? undefined) : undefined;
}

function Problems({ problems }: { readonly problems: readonly SearchProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul role="alert">
      {problems.map(({ from, message }) => (
        <li key={`${from} ${message}`} className="flex gap-2 px-2 py-1">
          <span className="w-8 shrink-0 text-right text-dim" title="The position in the text">
            {from + 1}
          </span>
          <span className="min-w-0 break-words">{plainLine(message)}</span>
        </li>
      ))}
    </ul>
  );
}

function Offers(props: {
  readonly listId: string;
  readonly active: number;
  readonly items: readonly Completion[];
  readonly onTake: (item: Completion) => void;
}) {
  return (
    <div role="listbox" id={props.listId} aria-label="Completions">
      {props.items.map((item, at) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- The keys are those of the field.
        <div
          tabIndex={-1}
          key={item.insert}
          id={`${props.listId}-${at}`}
          role="option"
          aria-selected={at === props.active}
          className={`flex h-7 cursor-pointer items-center gap-3 px-2 hover:bg-hover ${at === props.active ? 'bg-selected' : ''}`}
          // The field keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => props.onTake(item)}
        >
          <span className="max-w-[50%] shrink-0 truncate font-mono">{plainLine(item.label)}</span>
          <span className="truncate text-dim">{item.description}</span>
        </div>
      ))}
    </div>
  );
}
