import {describe, expect, it} from 'vitest';
import {GenerationError, TemplateError} from '../../../../src/core/errors.ts';
import {TemplateProcesses} from '../../../../src/core/renderer/template-process/template-processes.ts';
import {JsonFloat} from '../../../../src/core/util/parse-json.ts';

/** Steps are counted, so it ends by itself after a few tenths of a second. */
const endless = '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}';

describe('TemplateProcesses', () => {
  it('render as here, with the kinds of numbers', async () => {
    const processes = new TemplateProcesses({timeoutSeconds: 30});
    const template = await processes.open(
      '{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}{{ n }} {{ big }} {{ none }}',
    );
    expect(template.contentFormat).toBe('openai');
    expect([...template.variables].sort()).toEqual(['big', 'messages', 'n']);
    const variables = {messages: [{content: []}], n: new JsonFloat(1), big: 2n ** 70n};
    expect(await template.render(variables)).toBe('1.0 1180591620717411303424 None');
  });

  it('give the errors of a template with their place', async () => {
    const processes = new TemplateProcesses({timeoutSeconds: 30});
    const template = await processes.open('a\n{{ x.y.z }}');
    const error = await template.render({x: {}}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TemplateError);
    expect(error).toMatchObject({message: "'dict object' has no attribute 'y'", line: 2});
    await expect(processes.open('{% for %}')).rejects.toThrow(TemplateError);
  });

  it('go on after a template that does too much, and hold nobody up', async () => {
    const processes = new TemplateProcesses({timeoutSeconds: 30, maxProcesses: 2});
    // Two processes start, so that none has to while the slow one runs.
    const [quick, slow] = await Promise.all([processes.open('{{ x }}'), processes.open(endless)]);
    const order: string[] = [];
    const ending = slow.render({}).catch((error: Error) => order.push(error.message));
    await quick.render({x: 1}).then((text) => order.push(text));
    await ending;
    expect(order).toEqual(['1', expect.stringMatching(/takes more than \d+ steps/)]);
    expect(await quick.render({x: 2})).toBe('2');
  });

  it('end a template that takes too long, and start a new process', async () => {
    const processes = new TemplateProcesses({timeoutSeconds: 0.05, maxProcesses: 1});
    await expect(processes.open(endless).then((template) => template.render({}))).rejects.toThrow(GenerationError);
    const patient = new TemplateProcesses({timeoutSeconds: 0, maxProcesses: 1});
    expect(await (await patient.open('{{ x }}')).render({x: 1})).toBe('1');
  });

  it('end a template that fills the memory', async () => {
    const processes = new TemplateProcesses({timeoutSeconds: 30, maxProcesses: 1, maxMegabytes: 64});
    const template = await processes.open(
      '{% set ns = namespace(l=[]) %}{% for i in range(2000) %}{% set ns.l = [ns.l, range(90000)|list] %}{% endfor %}',
    );
    await expect(template.render({})).rejects.toThrow(TemplateError);
    expect(await (await processes.open('{{ x }}')).render({x: 1})).toBe('1');
  });
});
