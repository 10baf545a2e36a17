/** Downloads from a local server that behaves like the Hub, with what goes wrong there. */
import {createHash} from 'node:crypto';
import {access, lstat, mkdir, readdir, readFile, readlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parseHubId} from '../../../../../src/core/model/hub/hub-id.ts';
import {fetchHubModel, type HubContext, type HubRequest} from '../../../../../src/core/model/hub/hub-model.ts';
import type {HubSettings} from '../../../../../src/core/model/hub/hub-settings.ts';
import {defaultCommit, type FakeHub, type FakeRepo, goodToken, startFakeHub} from '../../../../support/fake-hub.ts';
import {RecordingLogger} from '../../../../support/recording-logger.ts';
import {createTemporaryFolder} from '../../../../support/temporary-folder.ts';

const weights = Buffer.alloc(300_000, 'weights ');
const plainRepo: FakeRepo = {
  files: {
    'config.json': '{"model_type":"llama"}',
    'tokenizer.json': '{}',
    'README.md': '# A model',
    'additional_chat_templates/tool_use.jinja': 'T',
    'model.safetensors': weights,
  },
};
const hash = createHash('sha256').update(weights).digest('hex');

interface Bench {
  hub: FakeHub;
  settings: HubSettings;
  log(): string;
  fetch(id: string, changes?: Partial<HubRequest>, context?: Partial<HubContext>): ReturnType<typeof fetchHubModel>;
}

async function open(repos: Record<string, FakeRepo> = {'owner/model': plainRepo}): Promise<Bench> {
  const hub = await startFakeHub(repos);
  onTestFinished(() => hub.close());
  const logger = new RecordingLogger();
  const settings: HubSettings = {
    endpoint: hub.url,
    cacheFolder: join(await createTemporaryFolder(), 'hub'),
    token: null,
    isOffline: false,
    timeoutMs: 5000,
  };
  return {
    hub,
    settings,
    log: () => logger.lines.map(({message}) => message).join('\n'),
    fetch: (id, changes = {}, context = {}) =>
      fetchHubModel({id: parseHubId(id)!, revision: null, dtype: 'auto', ...changes}, settings, {
        logger,
        signal: new AbortController().signal,
        onProgress: () => {},
        retryMs: 1,
        ...context,
      }),
  };
}

/** Comparing large buffers entry by entry is slow. */
const hasWeights = async (folder: string) => (await readFile(join(folder, 'model.safetensors'))).equals(weights);

const storageRequests = ({requests}: FakeHub) => requests.filter((request) => request.includes('signature'));

describe('fetchHubModel', () => {
  it('downloads what is needed into the layout of the Hub, and nothing twice', async () => {
    const {hub, settings, fetch} = await open();
    const progress: number[] = [];
    const model = await fetch('owner/model', {}, {onProgress: ({numBytes}) => progress.push(numBytes)});
    const repo = join(settings.cacheFolder, 'models--owner--model');
    expect(model).toEqual({
      folder: join(repo, 'snapshots', defaultCommit),
      weightsPath: join(repo, 'snapshots', defaultCommit),
      commit: defaultCommit,
    });
    expect(await readlink(join(model.folder, 'model.safetensors'))).toBe(`../../blobs/${hash}`);
    expect(await readlink(join(model.folder, 'additional_chat_templates/tool_use.jinja'))).toMatch(
      /^\.\.\/\.\.\/\.\.\/blobs\//,
    );
    expect(await hasWeights(model.folder)).toBe(true);
    expect(await readFile(join(repo, 'refs/main'), 'utf8')).toBe(defaultCommit);
    await expect(access(join(model.folder, 'README.md'))).rejects.toThrow();
    expect(progress.at(-1)).toBe(weights.length);
    expect(await readdir(join(repo, 'blobs'))).toHaveLength(4);

    hub.requests.length = 0;
    expect(await fetch('owner/model')).toEqual(model);
    expect(hub.requests.filter((request) => request.includes('resolve'))).toEqual([]);
  });

  it('PR-engine-10: goes on where a download was cut off, within a call and after one', async () => {
    const {hub, settings, fetch} = await open();
    hub.faults.cut = {afterBytes: 100_000, times: 1};
    await fetch('owner/model');
    expect(storageRequests(hub)).toEqual([`GET /${hash}?signature=1`, expect.stringMatching(/ bytes=100000-$/)]);

    const other = join(settings.cacheFolder, 'models--owner--other');
    hub.repos.set('owner/other', plainRepo);
    await mkdir(join(other, 'blobs'), {recursive: true});
    await writeFile(join(other, 'blobs', `${hash}.parlance-incomplete`), weights.subarray(0, 250_000));
    hub.requests.length = 0;
    const {folder} = await fetch('owner/other');
    expect(storageRequests(hub)).toEqual([expect.stringMatching(/ bytes=250000-$/)]);
    expect(await hasWeights(folder)).toBe(true);
  });

  it('starts again where ranges are not known', async () => {
    const {hub, fetch} = await open();
    hub.faults.cut = {afterBytes: 100_000, times: 1};
    hub.faults.ignoresRange = true;
    const {folder} = await fetch('owner/model');
    expect(await hasWeights(folder)).toBe(true);
  });

  it('PR-engine-10: throws damaged content away, tries once more, then says so', async () => {
    const {hub, settings, fetch} = await open();
    hub.faults.damage.times = 1;
    const {folder} = await fetch('owner/model');
    expect(await hasWeights(folder)).toBe(true);
    hub.repos.set('owner/other', plainRepo);
    hub.faults.damage.times = 2;
    await expect(fetch('owner/other')).rejects.toThrow('arrived damaged twice');
    const blobs = await readdir(join(settings.cacheFolder, 'models--owner--other', 'blobs'));
    expect(blobs.some((name) => name.startsWith(hash))).toBe(false);
  });

  it('takes a revision, and the one in an address', async () => {
    const {settings, fetch} = await open({'owner/model': {...plainRepo, refs: ['v1']}});
    await fetch('https://huggingface.co/owner/model/tree/v1');
    await fetch('owner/model', {revision: 'v1'});
    expect(await readdir(join(settings.cacheFolder, 'models--owner--model/refs'))).toEqual(['v1']);
    await expect(fetch('owner/model', {revision: 'v2'})).rejects.toThrow('no branch, tag or commit "v2"');
    const {commit} = await fetch('owner/model', {revision: defaultCommit});
    expect(commit).toBe(defaultCommit);
  });

  it('fetches the text side alone, and keeps what the reference means for others', async () => {
    const {hub, fetch} = await open();
    await fetch('owner/model', {textOnly: true});
    expect(storageRequests(hub)).toEqual([]);
  });

  it('refuses a model by its configuration before the weights', async () => {
    const {hub, fetch} = await open();
    const checkConfig = ({model_type: type}: Record<string, unknown>) => {
      throw new Error(`no ${type}`);
    };
    await expect(fetch('owner/model', {}, {checkConfig})).rejects.toThrow('no llama');
    expect(storageRequests(hub)).toEqual([]);
  });

  it.each([
    [
      'gated',
      null,
      /open only to people who have agreed.*Access to owner\/model is restricted\. Ask for access on .*HF_TOKEN/,
    ],
    ['gated', 'hf_other', /Ask for access on .* with the account of your token/],
    [
      'private',
      null,
      /There is no model owner\/model on .*status 401: Repository not found.*If it is private: Set HF_TOKEN/,
    ],
  ] as const)('says what to do about a %s model (token %s)', async (kind, token, message) => {
    const {settings, fetch} = await open({'owner/model': {...plainRepo, access: kind}});
    settings.token = token;
    await expect(fetch('owner/model')).rejects.toThrow(message);
    settings.token = goodToken;
    await fetch('owner/model');
  });

  it('says that there is no such model', async () => {
    const {settings, fetch} = await open();
    settings.token = goodToken;
    await expect(fetch('owner/missing')).rejects.toThrow(
      /no model owner\/missing on .*\(status 404: Repository not found\)/,
    );
  });

  it('waits for a Hub that is busy during a download, and gives up after some tries', async () => {
    const {hub, fetch} = await open();
    await fetch('owner/model', {textOnly: true});
    const fetching = fetch(
      'owner/model',
      {revision: defaultCommit},
      {
        checkConfig: () => {
          hub.faults.unavailable = {status: 503, times: 3};
        },
      },
    );
    await fetching;
    hub.repos.set('owner/other', plainRepo);
    const failing = fetch(
      'owner/other',
      {},
      {
        checkConfig: () => {
          hub.faults.unavailable = {status: 429, times: 100};
        },
      },
    );
    await expect(failing).rejects.toThrow('cannot answer now (status 429: not now)');
  });

  it('uses the cache without a network, by wish or by need, and says what is missing', async () => {
    const {hub, settings, log, fetch} = await open();
    settings.isOffline = true;
    await expect(fetch('owner/model')).rejects.toThrow(
      /not in the cache .*HF_HUB_OFFLINE is set.*parlance models pull owner\/model/,
    );
    settings.isOffline = false;
    const online = await fetch('owner/model');
    settings.isOffline = true;
    hub.requests.length = 0;
    expect(await fetch('owner/model')).toEqual(online);
    expect(hub.requests).toEqual([]);
    settings.isOffline = false;
    await hub.close();
    expect(await fetch('owner/model')).toEqual(online);
    expect(log()).toMatch(/cannot be reached.*HF_HUB_OFFLINE=1\. The copy of owner\/model in the cache is used/);
    await expect(fetch('owner/other')).rejects.toThrow('cannot be reached');
  });

  it('lets one of two processes download and the other wait', async () => {
    const {hub, log, fetch} = await open();
    hub.faults.slowMs = 300;
    const models = await Promise.all([fetch('owner/model'), fetch('owner/model')]);
    expect(models[0]).toEqual(models[1]);
    expect(storageRequests(hub)).toHaveLength(1);
    expect(log()).toContain('Another process is downloading model.safetensors');
  });

  it('takes the lock of a process that is gone', async () => {
    const {settings, fetch} = await open();
    const locks = join(settings.cacheFolder, '.locks', 'models--owner--model');
    await mkdir(locks, {recursive: true});
    const lock = join(locks, `${hash}.parlance`);
    await writeFile(lock, '1-abc');
    await utimes(lock, 0, 0);
    await fetch('owner/model');
    expect(await readdir(locks)).toEqual([]);
  });

  it('stops when it is told to, and goes on later', async () => {
    const {hub, fetch} = await open();
    hub.faults.slowMs = 2000;
    const stopping = new AbortController();
    const fetching = fetch('owner/model', {}, {signal: stopping.signal});
    setTimeout(() => stopping.abort(), 200);
    await expect(fetching).rejects.toThrow(/abort/i);
    hub.faults.slowMs = 0;
    const {folder} = await fetch('owner/model');
    expect((await lstat(join(folder, 'model.safetensors'))).isSymbolicLink()).toBe(true);
  });

  it.each(['../../evil.json', '/etc/passwd', 'a/../../../b.jinja', 'c:\\x.json'])(
    'never writes to %s',
    async (path) => {
      const {hub, settings, fetch} = await open({
        'owner/model': {files: {...plainRepo.files, [`additional_chat_templates/${path}.jinja`]: 'T', [path]: '{}'}},
      });
      await fetch('owner/model').catch(() => {});
      expect(await readdir(join(settings.cacheFolder, '..'))).toEqual(['hub']);
      expect(hub.requests.length).toBeGreaterThan(0);
    },
  );
});
