// Commands that run until the user ends them with Ctrl-C, which is no error.

/** Runs `work`, and aborts it at SIGINT or SIGTERM. A second signal ends the process at once. */
export async function untilSignal<T>(work: (stop: AbortController) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  try {
    return await work(stop);
  } finally {
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
  }
}
