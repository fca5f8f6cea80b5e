// One sink for the sessions of a process, which outlives each of them.
import type { EventLine } from '@subluminal/core/ports';
import type { BatchingSink } from './prompt-sink.ts';

/** What sessions write for nobody to wait for goes on together, or with what another one pushes. */
export function sharedSink(sink: BatchingSink): BatchingSink {
  let lines: EventLine[] = [];
  let isScheduled = false;
  const push = (): void => {
    const written = lines;
    lines = [];
    for (const line of written) sink.write(line);
    sink.push();
  };
  const pushLater = (): void => {
    isScheduled = false;
    if (lines.length > 0) push();
  };
  return {
    write: (line) => {
      lines.push(line);
      if (!isScheduled) setImmediate(pushLater);
      isScheduled = true;
    },
    push,
    flush: (timeoutMs) => {
      push();
      return sink.flush(timeoutMs);
    },
    stats: () => sink.stats(),
    close: () => {
      push();
      return Promise.resolve();
    },
  };
}
