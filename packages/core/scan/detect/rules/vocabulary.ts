// The words that phrases are made of, as parts of patterns. A space stands for what is between words.
import type { Phrase } from '../phrase.ts';

/** One more word. */
const W = "(?: [a-z0-9'\\u0080-\\uffff]{1,32})";
const OTHER =
  'previous|prior|preceding|earlier|above|foregoing|past|existing|original|initial|older?';
const OWN = 'your|system|safety|security|developer|content|ethical|hidden|default|current';
const ORDERS =
  'instructions?|prompts?|directives?|guidelines?|guardrails?|programming|training|orders|system messages?';
const RULES =
  'rules?|polic(?:y|ies)|constraints?|restrictions?|limitations?|commands?|messages?|context|conversation|tasks?|filters?|protocols?|checks?|measures|mechanisms|protections';
const MODEL =
  'ai|a i|ai systems?|automated (?:systems?|processors?|agents?|readers?)|llms?|assistants?|language models?|models?|agents?|chatbots?|bots?|claude|chatgpt|gpt|gemini|copilot|cursor|codex';
const TELL =
  'tell|inform|mention|notify|alert|reveal|disclose|show|report|let|warn|explain|say|ask';

/** A phrase of the class that most of them are. */
const phrase = (data: Omit<Phrase, 'class'>): Phrase => ({ class: 'injection', ...data });

export { MODEL, ORDERS, OTHER, OWN, phrase, RULES, TELL, W };
