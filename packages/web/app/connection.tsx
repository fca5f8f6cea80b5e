// What the page does when its server is gone, and when it is back.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useStreamState } from '../api/live-signal.ts';
import { Button } from '../parts/buttons.tsx';
import { FailureText } from '../parts/failure-text.tsx';

/** Calls the listener when the server answers again after it was gone. */
function useReturn(listener: () => void): void {
  const state = useStreamState();
  const wasLost = useRef(false);
  const onReturn = useEffectEvent(listener);
  useEffect(() => {
    if (state === 'lost') wasLost.current = true;
    if (state !== 'open' || !wasLost.current) return;
    wasLost.current = false;
    onReturn();
  }, [state]);
}

/** Above the view, so that nothing moves. */
export function LostNotice() {
  const client = useQueryClient();
  const isLost = useStreamState() === 'lost';
  useReturn(() => void client.invalidateQueries());
  return (
    <div
      role="status"
      className="pointer-events-none absolute inset-x-0 bottom-4 z-30 flex justify-center px-4"
    >
      {isLost && (
        <p className="rounded-4 border border-danger bg-page px-3 py-1 shadow-panel">
          The daemon does not answer; what is shown may be old. The page goes on by itself when it
          is back: <code className="font-mono text-12">sub ui</code> starts it.
        </p>
      )}
    </div>
  );
}

/** A part of the page that failed, or that could not be loaded: only a reload asks for its file again. */
export function BrokenPart({ cause }: { readonly cause: unknown }) {
  const reload = () => globalThis.location.reload();
  useReturn(reload);
  return (
    <div className="flex flex-col items-start gap-2 p-3">
      <FailureText cause={cause} />
      <Button onClick={reload}>Reload the page</Button>
    </div>
  );
}
