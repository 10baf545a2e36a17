/** What chat templates find: the filters, tests and functions of jinja2 and the additions of transformers. */
import {filters} from './jinja/filters/all-filters.ts';
import {createGlobals} from './jinja/globals.ts';
import type {Environment} from './jinja/runtime.ts';
import {tests} from './jinja/tests.ts';

export const chatEnvironment: Environment = {filters, tests, createGlobals};

/** Functions of jinja2 itself: a template that calls them uses no variable. */
export const builtInNames: ReadonlySet<string> = new Set(['range', 'dict', 'lipsum', 'cycler', 'joiner', 'namespace']);
