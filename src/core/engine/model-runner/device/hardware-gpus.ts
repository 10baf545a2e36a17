/** The graphics processors of this machine, as the native library finds them; software that plays one is not among them. */
import koffi from 'koffi';
import type {Handle, OrtApi} from '../ort/ort-api.ts';
import type {OrtEnvironment} from '../ort/ort-environment.ts';

export interface HardwareGpu {
  /** Name of the vendor, or its PCI number. */
  vendor: string;
  vendorId: number;
  deviceId: number;
  /** Has memory of its own, as far as the system tells. */
  isDiscrete: boolean;
}

/** `OrtHardwareDeviceType_GPU` */
const gpuType = 1;
export const nvidiaVendorId = 0x10de;

export function hardwareGpus({api, handle}: OrtEnvironment): HardwareGpu[] {
  const list: [Handle | null] = [null];
  const count: [number | bigint] = [0];
  api.call('GetEpDevices', handle, list, count);
  const entries = koffi.decode(list[0], koffi.array('void*', Number(count[0]))) as Handle[];
  const devices = [...new Set(entries.map((entry) => api.get('EpDevice_Device', entry) as Handle))];
  return devices.filter((device) => api.get('HardwareDevice_Type', device) === gpuType).map((gpu) => toGpu(api, gpu));
}

function toGpu(api: OrtApi, device: Handle): HardwareGpu {
  const vendorId = api.get('HardwareDevice_VendorId', device) as number;
  return {
    vendor: (api.get('HardwareDevice_Vendor', device) as string | null) || hexadecimal(vendorId),
    vendorId,
    deviceId: api.get('HardwareDevice_DeviceId', device) as number,
    isDiscrete: metadataOf(api, device).Discrete === '1',
  };
}

function metadataOf(api: OrtApi, device: Handle): Record<string, string> {
  const [keys, values]: [Handle | null][] = [[null], [null]];
  const count: [number | bigint] = [0];
  api.get('GetKeyValuePairs', api.get('HardwareDevice_Metadata', device), keys, values, count);
  const decode = (list: [Handle | null] | undefined) =>
    koffi.decode(list?.[0], koffi.array('str', Number(count[0]))) as string[];
  if (Number(count[0]) === 0) return {};
  const names = decode(keys);
  const texts = decode(values);
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

/** For logs and messages. */
export function describeGpu({vendor, deviceId, isDiscrete}: HardwareGpu): string {
  return `${vendor} ${hexadecimal(deviceId)}${isDiscrete ? '' : ' (memory shared with the processor)'}`;
}

function hexadecimal(value: number): string {
  return `0x${value.toString(16).padStart(4, '0')}`;
}
