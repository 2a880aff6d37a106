// Stands in for miniaudio, which the Go module zip of Ollama lacks. It declares
// only what llama.cpp's mtmd-helper.cpp calls outside its debug code, and every
// call says that audio cannot be decoded: the test models take text alone.
#pragma once
#include <cstddef>
#include <cstdint>

using ma_uint64 = std::uint64_t;
enum ma_result { MA_SUCCESS = 0, MA_STUB_HAS_NO_AUDIO = -1 };
enum ma_format { ma_format_f32 };
struct ma_decoder_config {};
struct ma_decoder {};

inline ma_decoder_config ma_decoder_config_init(ma_format, unsigned, unsigned) { return {}; }
inline ma_result ma_decoder_init_memory(const void *, std::size_t, const ma_decoder_config *, ma_decoder *) {
	return MA_STUB_HAS_NO_AUDIO;
}
inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_STUB_HAS_NO_AUDIO; }
inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_STUB_HAS_NO_AUDIO; }
inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }
