// A client of the Franka Control Interface, protocol version 10, that runs one torque motion and prints what it saw.
//
//     g++ -O2 -std=c++17 fci_client.cpp -o fci_client
//     ./fci_client 127.0.0.1 5         five seconds of robot time at the robot's port 1337
//     ./fci_client 127.0.0.1 5 spin    the same, without sleeping while it waits for a state
//     ./fci_client 127.0.0.1 0         only connect and read 20 states
//
// It does what a client of the vendor's library does in a cycle (receive a state, compute torques, send a command), and
// nothing else, so that the time of a cycle is that of the server. The output is one line of JSON: cycles, robot time
// over wall time, percentiles of the period, the processor time of a cycle, the lowest success rate, states missed.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint16_t kVersion = 10;
constexpr int kPatienceMs = 5000;
constexpr std::uint32_t kConnect = 0, kMove = 1;

#pragma pack(push, 1)
struct Header {
  std::uint32_t command, id, size;
};
struct Connect {
  Header header;
  std::uint16_t version, udp_port;
};
struct Move {
  Header header;
  std::uint32_t controller, generator;  // 2: the client's torques; 4: no motion generator
  double path_deviation[3], goal_deviation[3];
  std::uint8_t use_async;
  double maximum_joint_velocity[7];
};
struct State {
  std::uint64_t message_id;
  float reals[284];
  float accelerometers[36];
  std::uint8_t motion_generator_mode, controller_mode;
  std::uint8_t errors[41], reflex_reason[41];
  std::uint8_t robot_mode;
  float success_rate;
};
struct Command {
  std::uint64_t message_id;
  double motion[38];
  std::uint8_t valid_elbow, motion_finished;
  double tau_J_d[7];
  std::uint8_t torque_finished;
};
#pragma pack(pop)
static_assert(sizeof(Connect) == 16 && sizeof(Move) == 125 && sizeof(State) == 1377 && sizeof(Command) == 371,
              "the structures have the lengths of the wire");

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "fci_client: %s\n", what.c_str());
  std::exit(1);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

class Client {
 public:
  Client(const std::string &host, std::uint16_t port, bool spin) : spin_(spin) {
    tcp_ = socket(AF_INET, SOCK_STREAM, 0);
    udp_ = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &server.sin_addr) != 1) fail("no IPv4 address: " + host);
    if (connect(tcp_, reinterpret_cast<sockaddr *>(&server), sizeof server)) fail("no server at " + host);
    int one = 1;
    setsockopt(tcp_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sockaddr_in own{};
    socklen_t length = sizeof own;
    own.sin_family = AF_INET;
    if (bind(udp_, reinterpret_cast<sockaddr *>(&own), sizeof own)) fail("no UDP port");
    getsockname(udp_, reinterpret_cast<sockaddr *>(&own), &length);
    const Connect request{{kConnect, 0, sizeof(Connect)}, kVersion, ntohs(own.sin_port)};
    ask(&request, sizeof request);
    if (answer() != 0) fail("the server refused the connection");
  }
  ~Client() {
    close(udp_);
    close(tcp_);
  }
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  void start_torques() {
    Move request{};
    request.header = {kMove, 1, sizeof(Move)};
    request.controller = 2;
    request.generator = 4;
    const double off[3] = {10.0, 3.12, 6.283185307179586};
    std::copy(off, off + 3, request.path_deviation);
    std::copy(off, off + 3, request.goal_deviation);
    ask(&request, sizeof request);
  }

  // Return the status of the next answer.
  int answer() {
    std::uint8_t data[256];
    read_all(data, sizeof(Header));
    Header header;
    std::memcpy(&header, data, sizeof header);
    if (header.size <= sizeof header || header.size > sizeof data) fail("an answer of a wrong length");
    read_all(data, header.size - sizeof header);
    return data[0];
  }

  // Receive the newest state that is there, as the vendor's library does.
  void receive(State &state) {
    sockaddr_in from{};
    bool found = false;
    const double began = now();
    for (;;) {
      socklen_t length = sizeof from;
      const ssize_t n =
          recvfrom(udp_, &state, sizeof state, MSG_DONTWAIT, reinterpret_cast<sockaddr *>(&from), &length);
      if (n == static_cast<ssize_t>(sizeof state)) {
        if (!known_) {
          known_ = true;
          if (connect(udp_, reinterpret_cast<sockaddr *>(&from), length)) fail("no way back to the server");
        }
        found = true;
        continue;
      }
      if (n >= 0) fail("a state of " + std::to_string(n) + " bytes");
      if (found) return;
      if (!spin_) {
        pollfd wait{udp_, POLLIN, 0};
        if (poll(&wait, 1, kPatienceMs) <= 0) fail("no state within 5 s");
      } else if (now() - began > 1e-3 * kPatienceMs) {
        fail("no state within 5 s");
      }
    }
  }

  void command(const Command &given) { (void)!send(udp_, &given, sizeof given, 0); }

 private:
  void ask(const void *data, size_t size) {
    if (send(tcp_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) fail("the server closed the connection");
  }
  void read_all(std::uint8_t *data, size_t size) {
    while (size > 0) {
      pollfd wait{tcp_, POLLIN, 0};
      if (poll(&wait, 1, kPatienceMs) <= 0) fail("no answer within 5 s");
      const ssize_t n = recv(tcp_, data, size, 0);
      if (n <= 0) fail("the server closed the connection");
      data += n;
      size -= static_cast<size_t>(n);
    }
  }
  int tcp_ = -1, udp_ = -1;
  bool spin_ = false, known_ = false;
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<long>(at), values.end());
  return values[at];
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) fail("usage: fci_client HOST SECONDS [spin]");
  const double seconds = std::atof(argv[2]);
  Client client(argv[1], 1337, argc > 3 && std::string(argv[3]) == "spin");
  State state{};
  for (int i = 0; i < 20; ++i) client.receive(state);
  if (seconds <= 0.0) return 0;
  client.start_torques();
  // The vendor's library waits for the new mode before it commands.
  for (int i = 0; state.controller_mode != 2; ++i) {
    if (i > 1000) fail("the motion did not start");
    client.receive(state);
  }
  if (client.answer() != 1) fail("the motion did not start");

  Command command{};
  std::vector<double> stamps;
  stamps.reserve(static_cast<size_t>(1000 * seconds) + 10);
  const std::uint64_t first = state.message_id;
  std::uint64_t last = first;
  long cycles = 0, missed = 0;
  float lowest = 1.0F;
  const double before = processor_time(), began = now();
  double t = 0.0;
  while (t < seconds) {
    t = 1e-3 * static_cast<double>(state.message_id - first + 1);
    for (int i = 0; i < 7; ++i) command.tau_J_d[i] = (i < 4 ? 0.3 : 0.05) * std::cos(5.0 * t);
    command.message_id = state.message_id;
    command.torque_finished = t >= seconds;
    client.command(command);
    ++cycles;
    stamps.push_back(now());
    if (t >= seconds) break;
    client.receive(state);
    if (state.robot_mode != 2) fail("the motion ended early");
    missed += static_cast<long>(state.message_id - last) - 1;
    last = state.message_id;
    lowest = std::min(lowest, state.success_rate);
  }
  const double wall = now() - began, used = processor_time() - before;
  const int end = client.answer();
  std::vector<double> periods;
  for (size_t i = 1; i < stamps.size(); ++i) periods.push_back(1e6 * (stamps[i] - stamps[i - 1]));
  std::printf(
      "{\"cycles\": %ld, \"factor\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"cpu_us\": %.2f, \"lowest\": %.3f, "
      "\"missed\": %ld, \"ended\": %d}\n",
      cycles, t / wall, percentile(periods, 0.5), percentile(periods, 0.99), 1e6 * used / static_cast<double>(cycles),
      static_cast<double>(lowest), missed, end);
  return end == 0 ? 0 : 1;
}
