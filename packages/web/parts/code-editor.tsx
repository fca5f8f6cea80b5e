// A text area with numbers of lines and marks beside them.
import { type RefObject, useMemo, useRef } from 'react';

const LINE_HEIGHT = 20;
const PADDING = 8;
const LINES_ABOVE = 3;
const MARKS_MAX = 300;

export interface LineMark {
  readonly line: number;
  readonly kind: 'error' | 'warning' | 'note';
}

/** One shape and one colour for each kind of problem. */
export const MARK_LOOKS = {
  error: { shape: '■', className: 'text-danger' },
  warning: { shape: '▲', className: 'text-throttle-ink' },
  note: { shape: '●', className: 'text-dim' },
} as const;

interface CodeEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly marks: readonly LineMark[];
  readonly area: RefObject<HTMLTextAreaElement | null>;
}

export function CodeEditor({ label, text, onText, marks, area }: CodeEditorProps) {
  const gutter = useRef<HTMLDivElement>(null);
  const numbers = useMemo(
    () =>
      text
        .split('\n')
        .map((_, at) => at + 1)
        .join('\n'),
    [text],
  );
  const follow = () => {
    if (gutter.current === null || area.current === null) return;
    gutter.current.style.transform = `translateY(${-area.current.scrollTop}px)`;
  };
  return (
    <div className="flex min-h-0 flex-1 overflow-hidden font-mono text-12">
      <div
        aria-hidden="true"
        className="relative w-14 shrink-0 overflow-hidden border-r border-line bg-raised text-dim select-none"
      >
        <div ref={gutter} className="absolute inset-x-0 top-0">
          <pre className="py-2 pr-2 text-right font-mono leading-5">{numbers}</pre>
          {marks.slice(0, MARKS_MAX).map(({ line, kind }, at) => (
            <span
              // oxlint-disable-next-line react/no-array-index-key -- Several may stand on one line.
              key={at}
              className={`absolute left-1 leading-5 ${MARK_LOOKS[kind].className}`}
              style={{ top: PADDING + (line - 1) * LINE_HEIGHT }}
            >
              {MARK_LOOKS[kind].shape}
            </span>
          ))}
        </div>
      </div>
      <textarea
        ref={area}
        aria-label={label}
        value={text}
        wrap="off"
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        onScroll={follow}
        onChange={({ target }) => onText(target.value)}
        className="min-w-0 flex-1 resize-none bg-page p-2 leading-5 whitespace-pre"
      />
    </div>
  );
}

/** Puts the cursor on a line, and the line into view. */
export function showLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return;
  const before = area.value.split('\n').slice(0, line - 1);
  const at = before.reduce((length, one) => length + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(at, at);
  area.scrollTop = Math.max(0, (line - 1 - LINES_ABOVE) * LINE_HEIGHT);
}
