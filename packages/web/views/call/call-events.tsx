import type { ApiCallRecord } from '@subluminal/contracts';
import { useState } from 'react';
import { CopyButton } from '../../parts/buttons.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { PanelSection } from './panel-section.tsx';

/** As they were recorded. */
export function CallEvents({ record }: { readonly record: ApiCallRecord }) {
  const { events, has_more_events } = record;
  return (
    <PanelSection title="Events" isOpen={false} note={events.length}>
      {events.map((line) => (
        <EventLine key={line.seq} line={line} />
      ))}
      {has_more_events && <p className="text-dim">There are more than are listed.</p>}
    </PanelSection>
  );
}

function EventLine({ line }: { readonly line: ApiCallRecord['events'][number] }) {
  const { seq, event } = line;
  const [isShown, setShown] = useState(false);
  return (
    <details
      className="border-b border-line"
      onToggle={({ currentTarget }) => setShown(currentTarget.open)}
    >
      <summary className="flex h-7 cursor-pointer items-center gap-2 text-12">
        <span className="w-12 text-right text-dim">{seq}</span>
        <span className="font-mono">{text(event['type'])}</span>
        <span className="ml-auto text-dim">{text(event['ts'])}</span>
      </summary>
      {isShown && (
        <div className="flex items-start">
          <div className="min-w-0 flex-1">
            <JsonTree value={event} />
          </div>
          <CopyButton text={JSON.stringify(event)} label="Copy the event" />
        </div>
      )}
    </details>
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? plainLine(value) : '';
}
