// Connects the chat to a running Steward, to the approvals and to the keyboard.
import { addAbortSignal, Readable } from 'node:stream';
import { type Failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
import type { Desk, Entry } from '@subluminal/plane/approvals';
import { askSteward } from '@subluminal/plane/steward-socket';
import {
  isAskerGone,
  openOwnDesk,
  ownVerdict,
  undecidedFailure,
  userName,
} from '../approvals/desk.ts';
import { requestText } from '../approvals/render-approval.ts';
import { orThrow } from '../input/command.ts';
import { mayAct } from '../input/require-person.ts';
import type { Io } from '../terminal/io.ts';
import type { ShownChange } from './change-text.ts';
import { ChatView } from './chat-view.ts';
import { approveChange, decidedText, rejectChange } from './decide-change.ts';
import { stewardAnswer } from './steward-home.ts';

const WAIT_MS = 30_000;
const LINE_LENGTH_MAX = 100_000;
/** So long nobody wonders whether something happens. */
const SILENT_MS = 3_000;

interface ChatOptions {
  readonly socket: string;
  /** One message instead of a conversation. */
  readonly message?: string | undefined;
}

/** Whether what was asked for was done. Throws its failure. */
export async function chat({ socket, message }: ChatOptions, io: Io): Promise<boolean> {
  const desk = openOwnDesk(io);
  const stop = new AbortController();
  let hasWorked = true;
  let conversationId = await ownConversation(socket);
  let trouble: Failure | undefined;
  const fail = (told: Failure) => {
    trouble ??= told;
    stop.abort();
  };
  const send = async (text: string) => {
    const input = { channel: 'terminal', person: userName(), text } as const;
    const taken = await askSteward(socket, 'send', { input });
    if (isFailure(taken)) {
      fail(taken);
      return undefined;
    }
    if (conversationId === undefined) {
      conversationId = taken.conversation_id;
      void follow(conversationId);
    }
    if (io.stdinIsTerminal) setTimeout(() => view.stillWorks(), SILENT_MS).unref();
    return taken.task_id ?? undefined;
  };
  const view = new ChatView({
    ...terminalPorts(desk, io),
    send,
    stop: () => {
      if (conversationId === undefined) return;
      void askSteward(socket, 'stop', { input: { conversation_id: conversationId } });
    },
    end: (worked) => {
      hasWorked = worked;
      stop.abort();
    },
    isSingle: message !== undefined,
  });
  const follow = async (id: string): Promise<void> => {
    const told = await followUpdates(socket, { id, view, signal: stop.signal });
    if (told !== undefined) fail(told);
  };
  await seenSoFar(socket, conversationId, view);
  const interrupt = () => view.interrupt();
  process.on('SIGINT', interrupt);
  const following = desk.queue.follow(view);
  try {
    if (conversationId !== undefined) void follow(conversationId);
    if (message === undefined) {
      view.greet();
      void readLines(io, stop, (line) => view.line(line)).then(() => stop.abort());
    } else {
      view.line(message);
      if (io.stdinIsTerminal) {
        void readLines(io, stop, (line) => view.answer(line)).then(() => view.inputEnded());
      }
    }
    await ended(stop.signal);
  } finally {
    following.stop();
    process.off('SIGINT', interrupt);
  }
  if (trouble !== undefined) orThrow(trouble);
  return hasWorked;
}

function terminalPorts(desk: Desk, io: Io) {
  const { colors } = io.err;
  return {
    say: (text: string) => io.out.write(text),
    note: (text: string) => io.err.write(text),
    colors,
    nowMs: () => Date.now(),
    render: (entry: Entry) =>
      requestText(entry, { nowMs: Date.now(), isAskerGone: isAskerGone(entry), colors }),
    decide: ({ request, sha256 }: Entry, state: 'approved' | 'rejected') => {
      const decided = desk.decide(request.id, { ...ownVerdict(), state, sha256 });
      if (decided.kind === 'ended' || decided.kind === 'already') return undefined;
      return undecidedFailure(decided).message;
    },
    showChange: async (id: string) => {
      const shown = await stewardAnswer('changes/show', { id });
      return isFailure(shown) || shown.change.state !== 'open' ? undefined : shown;
    },
    decideChange: async (view: ShownChange, verdict: 'approve' | 'reject') => {
      const decided = await (verdict === 'approve'
        ? approveChange(view)
        : rejectChange(view.change.id));
      return isFailure(decided) ? `${decided.message} ${decided.fix}` : decidedText(decided);
    },
    forbidden: mayAct('terminal', io)?.message,
  };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

/** The conversation that this user has at the terminal. Throws its failure. */
async function ownConversation(socket: string): Promise<string | undefined> {
  const { conversations } = orThrow(await askSteward(socket, 'conversations', { input: {} }));
  const person = userName();
  return conversations.find((one) => one.channel === 'terminal' && one.person === person)?.id;
}

async function seenSoFar(socket: string, id: string | undefined, view: ChatView): Promise<void> {
  if (id === undefined) return;
  let after = 0;
  let seen: StewardAnswers['updates'];
  do {
    const input = { conversation_id: id, after };
    seen = orThrow(await askSteward(socket, 'updates', { input }));
    after = seen.messages.at(-1)?.n ?? after;
  } while (seen.messages.length > 0);
  view.skip(after, seen);
}

interface Following {
  readonly id: string;
  readonly view: ChatView;
  readonly signal: AbortSignal;
}

async function followUpdates(
  socket: string,
  { id, view, signal }: Following,
): Promise<Failure | undefined> {
  let version: number | undefined;
  while (!signal.aborted) {
    const asked = { conversation_id: id, after: view.lastMessage, wait_ms: WAIT_MS };
    const input = { ...asked, ...(version !== undefined && { version }) };
    const updates = await askSteward(socket, 'updates', { input, signal });
    if (signal.aborted) return undefined;
    if (isFailure(updates)) return updates;
    version = updates.version;
    view.onUpdates(updates);
  }
  return undefined;
}

async function readLines(
  io: Io,
  stop: AbortController,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  // A terminal that is still read keeps the process.
  if (io.stdin instanceof Readable) addAbortSignal(stop.signal, io.stdin);
  try {
    for await (const chunk of io.stdin) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
      for (const line of lines) take(line);
    }
  } catch {
    // It was left, or its terminal is gone.
  }
}
