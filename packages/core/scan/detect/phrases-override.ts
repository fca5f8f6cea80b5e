// Orders to ignore the instructions of the model. Every pattern begins at its keyword and reads one short
// window; repeats are counted and small.
import { keywordsIn, MODEL, ORDERS, OTHER, OWN, type Phrase, phrase, RULES, W } from './phrase.ts';

export const OVERRIDE: readonly Phrase[] = [
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions',
    keywords: ['ignore', 'disregard', 'forget', 'pay no attention', 'ignoring', 'disregarding'],
    pattern: `(?:ignor(?:e|ing)|disregard(?:ing)?|forget|pay no attention to)(?:${W}{0,4} (?:${OTHER}|${OWN}|all|any|every|these|those|other)(?: (?:of|the|your|these|those|and|or|other|${OTHER}|${OWN}|set|user's)){0,8}${W}{0,2} (?:${ORDERS})|${W}{0,3} (?:${OTHER}|your|safety|security|system)(?: (?:${OTHER}|${OWN})){0,8}${W}? (?:${RULES})|${W}{0,3} (?:everything|anything|all|what|whatever)${W}{0,2} (?:above|before this|you (?:were|have been|ve been|know)${W}{0,2}|i (?:said|told)|told (?:to )?you)|${W}{0,3} (?:${ORDERS}|${RULES})${W}{0,3} (?:above|before|given|you (?:were|have been|got|received)|so far|up to now|until now|(?:of|from|by|set by) (?:the |your )?(?:developers?|system|users?|operator|owner|provider)))`,
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to set its rules aside',
    keywords: keywordsIn(`override|bypass|overrid|circumvent|discard|abandon|supersede|
      stop following|stop obeying|do not follow|don't follow|do not obey|no longer follow|
      not bound by|set aside`),
    pattern: `(?:overrid(?:e|es|ing)|bypass(?:es|ing)?|circumvent|discard|abandon|supersedes?|stop (?:following|obeying)|do not (?:follow|obey)|don't follow|no longer follow|not bound by|set aside)(?: (?:the|any|all|your|of|every|these|and|my|user's)){0,8}(?: (?:${OTHER}|${OWN}))(?: (?:${OTHER}|${OWN}|and|or)){0,8}${W}{0,2} (?:${ORDERS}|rules?|polic(?:y|ies)|restrictions?|limits|protocols?|checks?|measures|mechanisms|filters?)`,
    unless:
      'override (?:the )?(?:default|system|current|existing) (?:settings|policy|rules?|polic)|bypass content',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions, in another language',
    keywords: keywordsIn(`ignoriere|vergiss|missachte|ignora|ignore|ignorez|oubliez|oublie|olvida|
      dimentica|esqueca|negeer|zignoruj`),
    pattern: `(?:ignoriere|vergiss|missachte|ignora|ignorez?|oubliez?|olvida|dimentica|esqueca|negeer|zignoruj)${W}{0,4} (?:anweisung(?:en)?|instruktionen|vorgaben|instrucciones|consignes|istruzioni|instrucoes|instructies|instrukcje|reglas|regole|regras|regeln)`,
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions, in another language',
    keywords: keywordsIn(
      `忽略|无视|忘记|無視|忘れ|これまでの指示|以前の指示|이전 지시|이전의 지시|이전 명령`,
    ),
    over: 'marks',
    pattern:
      '(?:忽略|无视|忘记).{0,12}(?:指令|指示|提示|说明|规则)|(?:これまで|以前)の指示.{0,12}(?:無視|忘れ)|이전(?:의)? ?(?:지시|명령).{0,12}(?:무시|잊)',
  }),
  phrase({
    id: 'new-instructions',
    label: 'announces new instructions for the model',
    keywords: keywordsIn(`new instruction|new system|updated instruction|real instruction|
      actual instruction|new directive|new task|new objective|revised instruction|your new|
      true instruction|secret instruction|hidden instruction|priority instruction|updated system`),
    pattern: `(?:your )?(?:new|updated|real|actual|true|revised|secret|hidden|priority)(?: (?:system|priority|secret|hidden|primary|main|only))? (?:instructions?|directives?|tasks?|objectives?|prompt|role|goal|persona|orders)(?: (?:for|to) (?:you|the (?:${MODEL})|(?:${MODEL})))?(?: (?:is|are|follows?|begin|start)(?: (?:as follows|now|to|here|that))?)?(?: |$)(?:you|your|please|instead|from now|always|send|ignore|call|use|read|reply|respond|answer|output|print|write|delete|forward|do|act|obey|follow|upload|run|execute|fetch|reveal|say|tell)\\b`,
    unless:
      'new (?:task|objective|goal|role) (?:is|to|for)? ?(?:the|your team|add|be|create|please)\\b|new (?:task|objective)s? (?:please|to|you)',
  }),
  phrase({
    id: 'override-instructions',
    label: "says that the model's instructions no longer hold",
    keywords: keywordsIn(`previous instruction|prior instruction|earlier instruction|
      original instruction|your instruction|your guidelines|your restrictions|your rules|
      safety check|safety filter|safety protocol|safety rule|security check|security protocol|
      restrictions|all prior|previous prompt|guardrails`),
    pattern: `(?:(?:all |any )?(?:previous|prior|earlier|original|your|safety|security)(?: (?:previous|prior|original|safety|system))?(?: (?:instructions?|guidelines|restrictions|rules|prompt|checks?|filters?|protocols?))|restrictions|guardrails)(?: (?:that|which) [a-z]{1,16}${W}{0,3})? (?:is|are|were|have been|has been|do|does)(?: (?:now|all|no|not|longer|been|hereby)){0,3} (?:void|revoked|suspended|cancel?led|superseded|overridden|lifted|disabled|obsolete|invalid|apply|bypassed|removed|waived|null)\\b`,
    unless:
      '(?:do|does) apply|(?:are|is|were) (?:not|never) (?:void|disabled|lifted|removed|bypassed)',
  }),
  phrase({
    id: 'urgent-order',
    label: 'orders the reader to act at once and elsewhere',
    keywords: ['you must', 'you are required', 'requires you to', 'you need to'],
    over: 'marks',
    pattern:
      '(?:you (?:must|need to|are required to)|requires you to) (?:immediately|now|at once|suspend|first|instantly)\\b.{0,120}?\\b(?:navigate|connect|transmit|execute|upload|download and run|run the|grant|visit|access|send|disable|call)\\b.{0,120}?(?:https?:|ftp:|wss?:|[\\w-]{2,40}\\.(?:com|net|org|io|biz|xyz|ru|cn|info|site|online|test|invalid|example)\\b|credentials|permissions|security|safety|confirm)',
    unless: '\\b(?:docs?|documentation|install|dashboard|settings|sign in|log in|register)\\b',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to leave its task for another',
    keywords: ['stop ', 'disregard', 'ignore', 'forget', 'abort', 'abandon'],
    pattern: `(?:stop|disregard|ignore|forget|abort|abandon)(?: (?:the|your|this|that|my|doing))${W}{0,3} (?:tasks?|question|request|analysis|summary|summari[sz]ation|translation|job|work|conversation|document|text)${W}{0,4} instead${W}{0,2} (?:output|print|reply|respond|write|say|send|reveal|call|return|display|tell|repeat|show|execute|run)\\b`,
  }),
];
