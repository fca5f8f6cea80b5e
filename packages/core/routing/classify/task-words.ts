// Which task a turn is about: by the words of the user, else by the tools that the agent uses.
import type { TaskType } from '@subluminal/contracts';

/** What clients put into the words of the user that no user wrote. */
const INJECTED =
  /<(system-reminder|environment_context|user_instructions|permissions[\w -]{0,20}|local-command-[a-z]{1,20}|command-[a-z]{1,20}|ide_[a-z_]{1,30})>[\s\S]*?(?:<\/\1>|$)/g;
const WORDS_LENGTH_MAX = 8_192;

/** In their order: the first that fits names the task. */
const WORDS: readonly (readonly [TaskType, RegExp])[] = [
  [
    'security_review',
    /\b(security (review|audit|issue|hole|bug)s?|vulnerabilit(y|ies)|threat model|pen-?test|owasp|cve-\d|sql injection|xss|csrf|exploit)\b/i,
  ],
  [
    'review',
    /\b(code review|review (this|my|the|these|our|all|pr|pull|changes?|diff|code|commit)|pull request review|look over (my|the|this) (pr|diff|changes?))\b/i,
  ],
  [
    'debug',
    /\b(debug|stack ?trace|traceback|segfault|crash(es|ed|ing)?|exception|regression|flaky|root cause|bisect|(fix|find|track down) [^\n.]{0,40}\b(bug|error|failure|leak|race|deadlock)s?|(fix|failing|broken|red) (the )?[^\n.]{0,24}tests?|why (is|does|do|are|did) [^\n.]{0,60}\b(fail|break|hang|wrong|slow|error|crash)\w{0,4}|(doesn't|does not|don't|isn't|not) work(ing)?|throws?|undefined is not)\b/i,
  ],
  [
    'architecture',
    /\b(architect(ure|ural)?|system design|design (doc|document|proposal)|high-level design|trade-?offs?|adr|data model|api design|scalab(le|ility))\b/i,
  ],
  [
    'summary',
    /\b(summar(y|ise|ize|ies|ised|ized|izing|ising)|tl;?dr|release notes|change ?log|commit message|recap|(write|generate|suggest) [^\n.]{0,20}\btitle)\b/i,
  ],
  [
    'planning',
    /\b(plan(ning)?|road ?map|break (it|this|that|the) [^\n.]{0,30}down|milestones?|next steps|step[- ]by[- ]step|how (should|would|could) (we|i|you) (approach|go about|implement|build|do|start))\b/i,
  ],
  [
    'simple_edit',
    /\b(typos?|rename|reword|re-?format|bump|indent(ation)?|spelling|comment out|lint (errors?|warnings?|fix(es)?)|sort (the )?imports?|one-?liner)\b/i,
  ],
  [
    'test_output',
    /\b(run (the |all |our |my )?(unit |e2e |integration )?tests?|test (output|results?|run|suite passes))\b/i,
  ],
  [
    'code_edit',
    /\b(implement|refactor|add|write|create|build|change|replace|remove|delete|update|migrate|port|extend|support|convert|extract|inline|fix|make (it|the|this)|wire up|hook up)\b/i,
  ],
  [
    'repo_search',
    /\b(where (is|are|do|does|in)|find|search|locate|grep|which files?|list (all|the|every)|usages? of|who calls)\b/i,
  ],
  [
    'file_reading',
    /\b(read|show( me)?|open|print|explain|what does|how does|describe|walk me through)\b/i,
  ],
];

export function taskInWords(text: string): TaskType | undefined {
  const words = text
    .slice(0, 4 * WORDS_LENGTH_MAX)
    .replace(INJECTED, ' ')
    .slice(0, WORDS_LENGTH_MAX);
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0];
}

/** Whether anything is left that a user may have written. */
export function hasWords(text: string): boolean {
  return /\p{L}/u.test(text.slice(0, 4 * WORDS_LENGTH_MAX).replace(INJECTED, ''));
}

const TEST_COMMAND =
  /\b(npm (run )?test|yarn test|pnpm test|npx (vitest|jest|playwright)|vitest|jest|pytest|tox|go test|cargo (test|nextest)|mvn [^\n]{0,40}test|gradlew? [^\n]{0,40}test|rspec|phpunit|ctest|dotnet test|make (test|check)|bun test|deno test)\b/;

const TOOLS: readonly (readonly [TaskType, RegExp])[] = [
  ['planning', /^(exitplanmode|enterplanmode|update_plan|todowrite|todo_write)$/],
  ['code_edit', /edit|write|patch|replace|insert|create_file|update_file|delete_file|multiedit/],
  ['repo_search', /grep|glob|search|find|list_?(files|dir)|^ls$|codebase/],
  ['file_reading', /read|view|^cat$|open_file|get_file|fetch/],
];
const SHELL = /bash|shell|exec|terminal|command/;
const SHELL_TASKS: readonly (readonly [TaskType, RegExp])[] = [
  ['test_output', TEST_COMMAND],
  ['code_edit', /\bapply_patch\b|\bsed -i\b|\bgit (commit|apply|mv|rm)\b/],
  ['repo_search', /^\s*(rg|grep|find|fd|ag|git (grep|ls-files)|ls|tree)\b/],
  ['file_reading', /^\s*(cat|head|tail|sed -n|bat|less|nl|wc)\b/],
];

/** The task that a use of a tool is for; a shell is known by its command. */
export function taskOfTool(tool: string, command: string): TaskType | undefined {
  const name = tool.toLowerCase();
  const known = SHELL.test(name)
    ? SHELL_TASKS.find(([, pattern]) => pattern.test(command.slice(0, 1_024)))
    : TOOLS.find(([, pattern]) => pattern.test(name));
  return known?.[0];
}
