// The tagger: what a turn is about, from its last messages. It keeps names, counts and flags, never what was said.
import {
  FILE_PATHS_MAX,
  type Level,
  type ModelEnvelope,
  type TaskType,
} from '@subluminal/contracts';
import { detached } from '../../text/detached.ts';
import { type MessageText, messageTexts } from './message-texts.ts';
import { hasWords, taskInWords, taskOfTool } from './task-words.ts';
import {
  hasStackTrace,
  hasTestFailure,
  isFilePath,
  isSecurityPath,
  languageOf,
  lineCount,
  patchLines,
  pathsIn,
  projectPath,
} from './text-signals.ts';

/** What one message shows. It depends on nothing else: keep it with the hash of the message. */
export interface MessageSignals {
  readonly hasUserWords: boolean;
  readonly wordsTask?: TaskType;
  /** The task of the last tool that was used. */
  readonly toolTask?: TaskType;
  readonly paths: readonly string[];
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly hasTestFailure: boolean;
  readonly hasStackTrace: boolean;
}

/** Arguments by which editors say what they replace. */
const REMOVED_KEYS: ReadonlySet<string> = new Set(['old_string', 'old_str', 'old_text']);
const ADDED_KEYS: ReadonlySet<string> = new Set([
  'new_string',
  'new_str',
  'new_text',
  'content',
  'file_text',
  'insert_text',
]);
const PATH_KEYS: ReadonlySet<string> = new Set(['file_path', 'path', 'notebook_path', 'filename']);
const COMMAND_KEYS: ReadonlySet<string> = new Set(['command', 'cmd', 'script']);

/** Reads one message of a request: a part of the kind `message`, as JSON. */
export function messageSignals(json: string): MessageSignals {
  const texts = messageTexts(json);
  const users = texts.filter(({ role, text }) => role === 'user' && hasWords(text));
  const lastUser = users.at(-1);
  const wordsTask = lastUser && taskInWords(lastUser.text);
  const toolTask = toolTaskIn(texts);
  const lines = texts.map(changedLines);
  const results = texts.filter(({ role }) => role === 'user' || role === 'tool_result');
  return {
    hasUserWords: lastUser !== undefined,
    ...(wordsTask !== undefined && { wordsTask }),
    ...(toolTask !== undefined && { toolTask }),
    paths: [...new Set(texts.flatMap(namedPaths))].slice(0, FILE_PATHS_MAX).map(detached),
    linesAdded: lines.reduce((sum, { added }) => sum + added, 0),
    linesRemoved: lines.reduce((sum, { removed }) => sum + removed, 0),
    hasTestFailure: results.some(({ text }) => hasTestFailure(text)),
    hasStackTrace: results.some(({ text }) => hasStackTrace(text)),
  };
}

function toolTaskIn(texts: readonly MessageText[]): TaskType | undefined {
  const uses = texts.filter(({ role }) => role === 'tool_use');
  const tool = uses.at(-1)?.tool;
  if (tool === undefined) return undefined;
  const command = uses.find((use) => use.tool === tool && COMMAND_KEYS.has(use.key ?? ''));
  return taskOfTool(tool, command?.text ?? uses.at(-1)?.text ?? '');
}

function changedLines({ role, key = '', text }: MessageText): ReturnType<typeof patchLines> {
  if (role !== 'tool_use') return { added: 0, removed: 0 };
  if (REMOVED_KEYS.has(key)) return { added: 0, removed: lineCount(text) };
  if (ADDED_KEYS.has(key)) return { added: lineCount(text), removed: 0 };
  return patchLines(text);
}

function namedPaths({ role, key = '', text }: MessageText): readonly string[] {
  if (role === 'tool_use' && PATH_KEYS.has(key)) return isFilePath(text) ? [text] : [];
  // What is written into a file names other files.
  const isContent = ADDED_KEYS.has(key) || REMOVED_KEYS.has(key);
  return role === 'system' || isContent ? [] : pathsIn(text);
}

export interface TaggedTurn {
  /** The signals of the messages in their order; the last ones decide. */
  readonly messages: readonly MessageSignals[];
  readonly isContinuation: boolean;
  /** What the scan of this turn found. */
  readonly hasSecret: boolean;
  readonly hasPersonalData: boolean;
  /** The folder of the project: paths in it are named below it, others not at all. */
  readonly project?: string;
}

/** What the tagger makes of a turn: parts of the envelope. */
export interface TurnTags {
  readonly filePaths: readonly string[];
  readonly languages: readonly string[];
  readonly diffSummary: ModelEnvelope['context_signals']['diff_summary'];
  readonly hints: ModelEnvelope['task_hints'];
}

/** Messages that are looked at before the last words of the user are found. */
const MESSAGES_MAX = 64;

export function tagTurn(turn: TaggedTurn): TurnTags {
  const recent = sinceUserWords(turn.messages);
  const paths = [...new Set(recent.flatMap((message) => message.paths))];
  const sum = (count: (one: MessageSignals) => number) =>
    recent.reduce((all, message) => all + count(message), 0);
  const below = paths.flatMap((path) => projectPath(path, turn.project) ?? []);
  const diffSummary = {
    lines_added: sum((message) => message.linesAdded),
    lines_removed: sum((message) => message.linesRemoved),
    contains_test_failure_keyword: recent.some((message) => message.hasTestFailure),
    contains_stack_trace: recent.some((message) => message.hasStackTrace),
  };
  const task = taskOf(recent, diffSummary, paths.length);
  const isSecurityArea = paths.some(isSecurityPath);
  const complexity = complexityOf(task.type, diffSummary, paths.length);
  const sensitivity = sensitivityOf(turn, isSecurityArea);
  return {
    filePaths: [...new Set(below)].slice(0, FILE_PATHS_MAX),
    languages: languagesOf(paths),
    diffSummary,
    hints: {
      task_type: task.type,
      complexity,
      data_sensitivity: sensitivity,
      agentic_loop: turn.isContinuation,
      contains_secret_like_pattern: turn.hasSecret,
      contains_pii_like_pattern: turn.hasPersonalData,
      security_sensitive_area: isSecurityArea,
      confidence: {
        task_type: task.confidence,
        complexity: complexity === 'unknown' ? 0 : 0.5,
        data_sensitivity: turn.hasSecret ? 0.9 : 0.5,
      },
    },
  };
}

/** From the last words of the user on: what the agent does for them. */
function sinceUserWords(messages: readonly MessageSignals[]): readonly MessageSignals[] {
  const last = messages.slice(-MESSAGES_MAX);
  const start = last.findLastIndex((message) => message.hasUserWords);
  return start === -1 ? last : last.slice(start);
}

interface FoundTask {
  readonly type: TaskType;
  readonly confidence: number;
}

const SMALL_CHANGE_LINES = 10;

/** The words of the user hold while the agent works for them, so that a task does not change in its loop. */
function taskOf(
  messages: readonly MessageSignals[],
  diff: TurnTags['diffSummary'],
  paths: number,
): FoundTask {
  const words = messages.find((message) => message.hasUserWords)?.wordsTask;
  if (words !== undefined && words !== 'file_reading') return { type: words, confidence: 0.8 };
  const tool = messages.findLast((message) => message.toolTask !== undefined)?.toolTask;
  const changed = diff.lines_added + diff.lines_removed;
  if (tool === 'code_edit' && paths <= 1 && changed > 0 && changed <= SMALL_CHANGE_LINES) {
    return { type: 'simple_edit', confidence: 0.6 };
  }
  if (tool !== undefined) return { type: tool, confidence: 0.6 };
  if (diff.contains_stack_trace || diff.contains_test_failure_keyword) {
    return { type: 'debug', confidence: 0.5 };
  }
  return words === undefined
    ? { type: 'unknown', confidence: 0 }
    : { type: words, confidence: 0.6 };
}

const LARGE_CHANGE_LINES = 300;
const MANY_PATHS = 10;
const SMALL_TASKS: ReadonlySet<TaskType> = new Set([
  'simple_edit',
  'summary',
  'repo_search',
  'file_reading',
]);
const LARGE_TASKS: ReadonlySet<TaskType> = new Set(['architecture', 'security_review']);

function complexityOf(type: TaskType, diff: TurnTags['diffSummary'], paths: number): Level {
  const changed = diff.lines_added + diff.lines_removed;
  if (changed > LARGE_CHANGE_LINES || paths > MANY_PATHS || LARGE_TASKS.has(type)) return 'high';
  if (type === 'unknown' && changed === 0 && paths === 0) return 'unknown';
  return SMALL_TASKS.has(type) ? 'low' : 'medium';
}

function sensitivityOf({ hasSecret, hasPersonalData }: TaggedTurn, isSecurityArea: boolean): Level {
  if (hasSecret) return 'high';
  return hasPersonalData || isSecurityArea ? 'medium' : 'low';
}

/** The most frequent first. */
function languagesOf(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const language = languageOf(path);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([language]) => language);
}
