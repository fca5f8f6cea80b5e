// Requests to carry data out, and orders hidden in what a tool says about itself.
import { first, keywordsIn, type Phrase, phrase, W } from './phrase.ts';

const PRIVATE =
  "conversation|chat history|chat log|message history|history|system prompt|previous messages|prior messages|all messages|ssh keys?|id_rsa|id_ed25519|private keys?|\\.env|env(?:ironment)? (?:variables?|vars?|file)|credentials?|secrets?|cookies?|passwords?|api keys?|access tokens?|session tokens?|auth(?:entication)? tokens?|source code|personal data|user'?s? (?:data|details|files?|email|address|information|messages|contacts)|contacts|address book|(?:full |entire |complete )?contents? of|file contents?|customer (?:data|list|records|emails|details)|user records|database|invoices|bank details|(?:all|every)(?: the| single| of the)? (?:files?|emails?|e-mails?|messages?|documents?|data|records?|contacts?|invoices?)|inbox|their (?:data|messages|files)|what you (?:know|found|read)|the data above|results? of the previous";
/** It begins where its name begins: tried at each letter of a long word, it would be read many times. */
const MAILBOX = '(?<![\\w.+-])[\\w.+-]{1,100}@[\\w-]{1,40}\\.';
const AWAY = `(?:to|at|into|via|towards|through|in the query|as (?:a |the )?(?:query|url|parameter))(?: [^.]{0,40}?)?(?:https?:|hxxps?:|ftp:|wss?:|www\\.|(?<![\\w-])[\\w-]{1,80}\\.(?:com|net|org|io|dev|xyz|ru|cn|info|site|online|app|me|co|example|test|invalid)\\b|${MAILBOX}|webhook(?!\\w| secret)|our (?:server|endpoint|collector)|(?:this|the following) (?:url|address|endpoint|server|number|email)|attacker|pastebin|telegram|discord)`;
/** Blank lines, or the mark of a block of code. */
const BLOCK_END = '(?:\\n{2,60}|```)';
const IN_BLOCK = `(?:(?!${BLOCK_END})[^.!?])`;
const SEND =
  'send|sends|post|forward|upload|transmit|e-?mail|mail|exfiltrate|leak|submit|copy|append|encode|embed|deliver|report|share|publish|push|relay|bcc|write|attach|include|add|put|pass|collect|ship|sync|disclose|echo|dump';
const FILES =
  '(?:~|\\$home|%userprofile%|/etc|/root|/home/\\w{1,32}|/var|c:\\\\users)?[/\\\\]?(?:\\.ssh|\\.aws|\\.env\\b|\\.netrc|\\.npmrc|\\.kube|\\.gnupg|\\.git-credentials|\\.docker/config|\\.cursor/mcp|mcp\\.json|etc/passwd|etc/shadow|id_rsa|id_ed25519|(?:aws|gcloud|\\.\\w{2,12})[/\\\\]credentials\\b|claude_desktop_config|bash_history|\\.config/gcloud|keychain|wallet\\.dat|cookies\\.sqlite|login data)';

export const CARRIED_OUT: readonly Phrase[] = [
  phrase({
    id: 'exfiltration-request',
    label: 'asks to send private data away',
    keywords: keywordsIn(`send|post |forward|upload|transmit|email|e-mail|mail |exfiltrate|leak|
      submit|append|encode|deliver|share|publish|relay|bcc|attach|include|collect|ship |sync |
      copy |dump|echo|write |put `),
    over: 'marks',
    unitsMin: 12,
    // The data and its way out stand in one block of text, which need not be the first one.
    pattern: `(?:${SEND})\\b(?=[^.!?]{0,60}?\\b(?:${PRIVATE})\\b)(?:${first('block', `${IN_BLOCK}{0,60}?${BLOCK_END}`)}){0,8}?${first('what', `${IN_BLOCK}{0,60}?\\b(?:${PRIVATE})\\b`)}(?:(?!${BLOCK_END}).){0,150}?\\b${AWAY}`,
    unless:
      "\\b(?:authorization|bearer|x-api-key|header|oauth|grant_type|client_id|sdk|npm|install|documentation|docs|see https?|learn more|dashboard|settings|pull request|support@|security@|never (?:send|share|post|include|commit)|do not (?:send|share|post|include|commit)|don't (?:send|share|post|include|commit))\\b",
  }),
  phrase({
    id: 'exfiltration-request',
    label: 'asks to read a file that holds keys and to pass it on',
    keywords: keywordsIn(`read|cat |open|load|fetch|access|retrieve|get the|include|contents of|
      content of|grab|extract|collect|find |pass |provide|attach|send|look up|locate|print |show |
      upload|copy `),
    over: 'marks',
    unitsMin: 10,
    pattern: `(?:read|cat|open|load|fetch|access|retrieve|get|include|contents? of|grab|extract|collect|find|pass|provide|attach|send|look up|locate|print|show|upload|copy)(?![a-z])${first('file', `[^!?]{0,80}?${FILES}`)}.{0,280}?\\b(?:pass|send|include|append|as (?:the|a|an|its|this)|parameter|argument|value|field|post|upload|to http|sidenote|content|contents|forward|encode|attach|put|provide|otherwise|or the tool|required|first|before)\\b`,
    score: 1,
    definitionScore: 3,
  }),
  phrase({
    id: 'exfiltration-image',
    label: 'holds an image whose address carries data away',
    keywords: ['![', '<img', '[!['],
    over: 'marks',
    pattern:
      '(?:!\\[[^\\]]{0,100}\\] ?\\( ?|<img\\b[^>]{0,80}?src ?= ?["\']?)<?https?:[^)\\s>]{1,200}?(?:[?&/#][\\w.-]{0,30}=?(?:\\{|%7b|\\$\\{|<|%3c|\\[|%5b)[^)]{0,40}?(?:data|content|secret|history|prompt|conversation|chat|summary|message|token|password|email|key|info|stolen|env|context|base64|encoded|query|text)[^)]{0,40}|[?&](?:data|d|q|c|content|payload|secret|history|text|msg|message|info|leak|exfil|log|prompt|chat|conv|conversation|context|summary|s|x|p|b64|base64|stolen|body|key|token|password|env)=[\\w%+/.~-]{32,})',
  }),
  phrase({
    id: 'exfiltration-image',
    label: 'asks to show an image with data in its address',
    keywords: ['!['],
    over: 'marks',
    pattern:
      '(?<=\\b(?:load|render|display|embed|fetch|append|output|insert) )!\\[[^\\]]{0,100}\\]\\(https?:[^)\\s]{1,200}\\?[^)\\s]{1,200}',
  }),
  phrase({
    id: 'redirected-recipient',
    label: 'asks to send something to an address',
    keywords: keywordsIn(`send |forward |post |upload |email |transfer |envoy|envia|sende |schicke|
      invia |visit `),
    over: 'marks',
    pattern: `(?:send|forward|post|upload|email|transfer|envoyez?|envi(?:a|e|ar)|sende|schicke|invia|visit)\\b[^.!?\\n]{0,60}?(?:${MAILBOX}|https?://)`,
    score: 1,
    definitionScore: 1,
  }),
  phrase({
    id: 'exfiltration-link',
    label: 'asks for an address with data in it',
    keywords: ['http'],
    over: 'marks',
    pattern:
      'https?://[^\\s)"\'<>]{1,160}[?&/#](?:[\\w.-]{1,30}=)?(?:\\{\\{?|\\$\\{|%7b|<|\\[|%5b)[ _-]?(?:conversation|chat|history|secrets?|passwords?|api[ _-]?key|token|credentials?|system[ _-]?prompt|user[ _-]?(?:data|email|message|query)|env|base64|encoded|contents?|file|private|ssn|card|data|summary|context|messages?|stolen|exfil)[^\\s]{0,40}',
    unless:
      '(?:api|docs?|swagger|openapi|graphql|callback|redirect_uri|curl |endpoint|GET |POST |users/\\{)',
    definitionScore: 2,
  }),
  phrase({
    id: 'important-tag',
    label: 'hides orders to the model in a tag',
    keywords: keywordsIn(`<important|<critical|<secret|<hidden|<mandatory|<priority|<urgent|
      <note_to|<sidenote|[important`),
    over: 'marks',
    pattern:
      '[<[] ?(?:important|critical|secret|hidden|mandatory|priority|urgent|note_to|sidenote)(?:[-_ ]\\w{1,24}){0,2} ?[>\\]](?=.{0,300}\\b(?:you|tool|before|must|always|never|do not|user|read|send|call|file|first|assistant|model)\\b)',
    score: 1,
    definitionScore: 3,
  }),
  phrase({
    id: 'tool-precondition',
    label: 'makes the model do something else before or with a tool',
    keywords: keywordsIn(`before using|before calling|before invoking|before you use|
      before you call|before running|before executing|prior to using|prior to calling|
      when using this tool|when calling this tool|in order to use this|for this tool to work|
      to use this tool|this tool will not work|this tool only works|otherwise the tool|or the tool|
      or this tool|after calling this tool|after using this tool|every time this tool|
      whenever this tool|after using any`),
    pattern:
      "(?:(?:before|prior to|when|after|every time|whenever|in order to|for|to|otherwise|or|this)(?: (?:using|calling|invoking|running|executing|you use|you call|use|using any|this tool|the tool)){0,3})(?=.{0,200}\\b(?:ssh|env|mcp json|etc passwd|credentials?|secrets?|api keys?|private keys?|passwords?|tokens?|conversation|chat history|system prompt|previous messages|user'?s (?:messages|data|email|location|files)|file contents?|contents? of (?:the )?(?:file|every|all)|https?|sidenote|not be mentioned|home directory|environment variables?)\\b)(?=.{0,200}\\b(?:read|send|pass|include|provide|append|attach|call|fetch|post|forward|retrieve|put|copy|access|upload)\\b)",
    unless:
      '\\b(?:must be set|is required|requires an? (?:api key|token)|set the|configure|authenticate|log ?in|obtain an?|environment variable \\w{1,32} (?:must|should|is))\\b',
    score: 0,
    definitionScore: 2,
  }),
  phrase({
    id: 'tool-steering',
    label: 'changes how the model uses other tools',
    keywords:
      keywordsIn(`before using|before calling|before invoking|before running|before executing|
      before performing|before execute|before you use|before you call|before you do|just use this|
      only use this|instead of|always use this|always call this|must use this|must call this|
      must be called|always be called|do not use any other|never use the|do not use the|
      don't use the|whenever the user|when the user asks|regardless of|any time the user|
      every time the user|on every|use this tool for all|replaces the|this overrides|
      this tool overrides|this tool supersedes|other tools are|all other tools|before any other|
      before every other|first before|takes precedence|highest priority|only trusted tool|
      deprecated and`),
    pattern: `(?:before (?:using|calling|invoking|running|executing|performing|execute|you (?:use|call|do))[^.]{1,60}? (?:call|use|invoke|run|execute) this (?:tool|function)|(?:just|always|only) use this (?:tool|function)(?: [\\w']{1,32}){0,4} no matter|instead of (?:using |calling )?(?:the |any )?(?:other|official|built ?in|original|real|native)(?: [\\w']{1,32}){0,3} tools?|(?:always (?:use|call|be called)|must (?:use|call|be called))(?: this)?(?: tool| function)?(?:(?![.!?]\\s) [\\w']{1,32}){0,4}(?![.!?]\\s) (?:first|before (?:any|every|all|each|anything|responding|answering)|on every|after every|for every|in every|no matter|regardless|silently|at the start of every)|(?:do not|don't|never) use (?:the|any other)${W}{0,4} (?:tools?|server|function)${W}{0,6} (?:use this|this tool|call this|compromised|unsafe|broken|deprecated|instead|insecure)|(?:whenever|when|any time|every time) the user${W}{0,10} (?:silently|secretly|also send|also call|also forward|instead (?:send|use|call|of)|always (?:add|bcc|include|send|append)|bcc|without (?:telling|asking)|to the (?:attacker|following)|must be (?:sent|replaced|changed))|regardless of (?:what )?(?:the )?(?:user|other|their|your|system)${W}{0,3} (?:asks?|says?|instructions?|wants?|request|tools?|prompt)|use this tool for all|(?:this|this tool) (?:overrides|supersedes|replaces)${W}{0,5} (?:tools?|instructions?|rules|descriptions?|prompts?)|(?:all )?other tools (?:are|must|should)(?: (?:be|now|not)){0,8}(?: (?:compromised|unsafe|deprecated|ignored|broken|insecure|disabled|untrusted|avoided|used))|before (?:any|every) other tool|(?:takes precedence over|highest priority over)${W}{0,3} (?:tools?|instructions?|prompts?|rules|requests?)\\b|only trusted tool|on every(?: [\\w']{1,32}){0,4} (?:call|message|turn|request|response)${W}{0,6} (?:send|append|include|attach|pass|forward))`,
    unless:
      '(?:must|always) be called (?:first|before)(?! (?:any|every|all|each|anything|responding|answering))|regardless of (?:the )?(?:user|other|their|your)(?: agent| locale| case| settings| role| input)\\b',
    score: 0,
    definitionScore: 2,
  }),
  phrase({
    id: 'redirected-recipient',
    label: 'changes where messages, payments or requests go',
    keywords: [
      ' cc ',
      ...keywordsIn(`recipient|bcc|all emails|every email|all payments|payment|
      proxy|all messages|all requests|send all|all traffic|route all|redirect|wallet|iban|
      account number|beneficiary|phone number`),
    ],
    pattern: `(?:(?:the )?(?:recipient|beneficiary|payee|iban|account number|wallet(?: address)?|phone number|destination|proxy number)${W}{0,6} (?:must|should|always|has to|needs to|to)${first('set', '(?: (?:be|always|now)\\b){0,8} (?:(?:set|changed|replaced|sent|routed|redirected|forwarded|updated)\\b)?(?: (?:with|to|by)\\b)? ?')}(?=.{0,80}(?:\\b\\w{1,32} (?:com|net|org|io|example|test|invalid|ru|cn)\\b|\\d{6,}|attacker|following|0x))|(?:add|include|always|also)? ?(?:bcc|cc)${W}{0,4} [\\w']{1,32}(?: [\\w']{1,32}){1,4} (?:com|net|org|io|example|test|invalid|ru|cn)\\b|(?:all|every|route all|send all) (?:outgoing |future )?(?:emails?|messages?|payments?|requests?|traffic|invoices)${W}{0,5} (?:must|should|have to|need to|to|through|via)${first('sent', '(?: (?:be|go|now|also|always)\\b){0,8}(?: (?:sent|routed|redirected|forwarded|copied|go|to|through|via)\\b){1,3} ?')}(?=.{0,80}(?:\\b\\w{1,32} (?:com|net|org|io|example|test|invalid|ru|cn)\\b|\\d{6,}|attacker|following)))`,
    score: 1,
    definitionScore: 2,
  }),
  phrase({
    id: 'redirected-recipient',
    label: 'sends a copy to somebody else',
    keywords: keywordsIn(`also send|also forward|also email|also post|also cc|also notify|also let|
      also share|also upload|a copy of|a copy to|also include|loop in|always send|always forward|
      always email|always cc|additionally send|also report|always also|also copy`),
    over: 'marks',
    pattern:
      '(?:(?:also|always|additionally)(?: also| silently| then)? (?:send|forward|e-?mail|post|cc|bcc|notify|let|share|upload|include|report|copy)|a copy (?:of|to)|loop in)\\b[^!?\\n]{0,140}?(?:[\\w.+-]@[\\w-]{1,40}\\.\\w|https?://|\\bwebhook\\b|external (?:server|endpoint|address))',
    score: 1,
    definitionScore: 2,
  }),
  phrase({
    id: 'asks-for-secrets',
    label: 'wants secrets or the conversation in its arguments',
    keywords: keywordsIn(`conversation|chat history|system prompt|previous message|environment var|
      credential|api key|secret|password|private key|ssh key|message history|access token`),
    over: 'marks',
    pattern:
      "(?<=\\b(?:entire|full|complete|whole|all|any|recent|user'?s?|your|raw|current) (?:\\w{1,12} )?)(?:(?:conversation|chat|message)(?: history| context| log)?|system prompt|previous messages|environment variables|credentials?|api keys?|secrets|passwords?|private keys?|ssh keys?|access tokens?)\\b[^.!?]{0,40}?\\b(?:for (?:context|debugging|logging|verification|validation|auditing|personali[sz]ation|compliance|telemetry|quality)|here|as (?:a |the )?(?:context|value|argument|parameter)|so (?:that )?(?:the|we|it))\\b",
    unless:
      '\\b(?:oauth|log ?in|sign ?in|connect to|authenticate with|to access the|stored|vault|environment variables? (?:for|of|to) (?:the|a|your))\\b',
    score: 0,
    definitionScore: 2,
  }),
  phrase({
    id: 'disable-safety',
    label: 'asks to switch protection off',
    keywords: keywordsIn(`disable|turn off|skip |auto-approve|auto approve|automatically approve|
      approve all|approve every|--no-verify|yolo|always allow|deactivate|remove all safety`),
    pattern: `(?:(?:disable|turn off|skip|deactivate|remove all)(?: (?:the|all|any|your|every|user)){0,8}(?: (?:safety|security|approval|confirmation|permission|content|policy|guardrail|moderation|human|consent))(?: (?:checks?|filters?|prompts?|dialogs?|requests?|guardrails?|steps?|review|mode|approval|confirmation|features|rules|polic(?:y|ies)|requirements?))+|(?:auto ?approve|automatically approve|approve all|approve every|always allow)${W}{0,4} (?:tools?|calls?|requests?|actions?|commands?|edits?)${W}{0,6} (?:without|silently|no confirmation|do not ask|chat tools autoapprove))(?=.{0,160}\\b(?:you|user|without|then|and|before|assistant|agent|model|tool|call|send|run)\\b)`,
    score: 1,
    definitionScore: 2,
  }),
];
